// The sizes of files, by which the library tells whether one exists and is complete.
import { stat } from "node:fs/promises";

/** Bytes of the file, or undefined if there is none. */
export async function fileBytes(path: string): Promise<number | undefined> {
  try {
    const found = await stat(path);
    return found.isFile() ? found.size : undefined;
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG") return undefined;
    throw error;
  }
}

/**
 * Whether a finished file of the library exists. It gets its name only after a full check, so its size, or its existence if the
 * size is unknown, is enough.
 */
export async function isWhole(path: string, sizeBytes: number | undefined): Promise<boolean> {
  const bytes = await fileBytes(path);
  return bytes !== undefined && bytes === (sizeBytes ?? bytes);
}
