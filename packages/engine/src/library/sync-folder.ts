// Makes a new name last. Used wherever a finished file gets its name.
import { open } from "node:fs/promises";

/** Without this a power cut may forget the new name. Windows cannot open a folder and needs no such step. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  await using handle = await open(folder, "r");
  await handle.sync();
}
