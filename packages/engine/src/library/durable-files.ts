// Makes the library's folders durable, and tells the sizes of files, by which it tells whether one exists and is complete.
import { stat, mkdir, open } from "node:fs/promises";
import { errorCode } from "../base/errors.ts";
import { diskFailure } from "./disk-space.ts";
import type { LibraryPaths } from "../base/home.ts";

/** Throws `disk_full` or `download_failed` (not writable). */
export async function makeFolders({ home, modelsDir, downloadsDir }: LibraryPaths): Promise<void> {
  try {
    await mkdir(modelsDir, { recursive: true });
    await mkdir(downloadsDir, { recursive: true });
  } catch (error) {
    throw diskFailure(error, home);
  }
}

/** Makes a rename durable: without it, a power failure may lose the new name. Windows does not need or allow it. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform !== "win32") await sync(folder, "r");
}

/** Makes a file's content durable. */
export async function syncFile(file: string): Promise<void> {
  await sync(file, "r+");
}

async function sync(file: string, flags: "r" | "r+"): Promise<void> {
  const handle = await open(file, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Bytes of the file, or undefined if there is none. */
export async function fileBytes(file: string): Promise<number | undefined> {
  try {
    const found = await stat(file);
    return found.isFile() ? found.size : undefined;
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ENAMETOOLONG"].includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}

/**
 * Whether a finished file of the library exists. It gets its name only after a full check, so its size, or its existence if the
 * size is unknown, is enough.
 */
export async function isComplete(file: string, sizeBytes: number | undefined): Promise<boolean> {
  const bytes = await fileBytes(file);
  return bytes !== undefined && bytes === (sizeBytes ?? bytes);
}
