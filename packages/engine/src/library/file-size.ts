// How large a file is, for everything in the library that asks whether one is there and whole.
import { stat } from "node:fs/promises";

/** Bytes of the file, or undefined when there is none. */
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
 * Whether a finished file of the library is there. Its name appears only after a full check, so the size is enough to see
 * that nothing happened to it since; where the size is not known, the name is.
 */
export async function isWhole(path: string, sizeBytes: number | undefined): Promise<boolean> {
  const bytes = await fileBytes(path);
  return bytes !== undefined && bytes === (sizeBytes ?? bytes);
}
