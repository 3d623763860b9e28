// Small files that are replaced as a whole: readers see the old content or the new one.
import { randomUUID } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";

/** Of several writers at the same time, the last one wins. `mode`: the file's permissions; default: the user's. */
export async function writeAtomically(file: string, text: string, mode?: number): Promise<void> {
  const unfinished = `${file}.${randomUUID()}.part`;
  try {
    await writeFile(unfinished, text, { flag: "wx", flush: true, ...(mode === undefined ? {} : { mode }) });
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {}); // fails too if the folder is not writable
    throw error;
  }
}
