// The library's folders and files, and the sizes of files, by which it tells whether one exists and is complete.
import { stat, mkdir, open } from "node:fs/promises";
import path from "node:path";
import envPaths from "env-paths";
import { codeOf } from "../errors.ts";
import { diskFailure } from "./disk-space.ts";
import { resolveTyped } from "./typed-path.ts";

export interface LibraryPaths {
  /** The folder of all others; INGLE_HOME sets it. */
  home: string;
  /** Complete, checked model files. */
  modelsDir: string;
  /** GGUF files that were converted from other formats. */
  convertedDir: string;
  /** Installed adapters. */
  adaptersDir: string;
  /** Unfinished downloads, which the next attempt continues. */
  downloadsDir: string;
  /** Data that the files do not contain: imports, aliases, checksums, last use. */
  manifestFile: string;
  /** Crash reports of engines. */
  crashReportsDir: string;
  /** The user's settings. */
  configDir: string;
}

/** In `INGLE_HOME` if it is set and not empty, else in the user's data and config folders of this system (XDG on Linux). */
export function libraryPaths(env: NodeJS.ProcessEnv = process.env): LibraryPaths {
  const chosen = env["INGLE_HOME"];
  const isChosen = chosen !== undefined && chosen !== "";
  const usual = envPaths("ingle", { suffix: "" });
  const home = isChosen ? resolveTyped(chosen) : usual.data;
  return {
    home,
    modelsDir: path.join(home, "models"),
    convertedDir: path.join(home, "converted"),
    adaptersDir: path.join(home, "adapters"),
    downloadsDir: path.join(home, "downloads"),
    manifestFile: path.join(home, "library.json"),
    crashReportsDir: path.join(home, "crash-reports"),
    configDir: isChosen ? path.join(home, "config") : usual.config,
  };
}

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
    if (["ENOENT", "ENOTDIR", "ENAMETOOLONG"].includes(codeOf(error) ?? "")) return undefined;
    throw error;
  }
}

/**
 * Whether a finished file of the library exists. It gets its name only after a full check, so its size, or its existence if the
 * size is unknown, is enough.
 */
export async function isWhole(file: string, sizeBytes: number | undefined): Promise<boolean> {
  const bytes = await fileBytes(file);
  return bytes !== undefined && bytes === (sizeBytes ?? bytes);
}
