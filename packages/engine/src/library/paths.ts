// Where Ingle keeps what it has downloaded. Everything that touches the library's disk asks here.
import { mkdir } from "node:fs/promises";
import path from "node:path";
import envPaths from "env-paths";
import { diskFailure } from "./disk-space.ts";

export interface LibraryPaths {
  /** The folder that holds everything of Ingle's; in messages it is the one a person can move. */
  home: string;
  /** Whole, checked model files. */
  modelsDir: string;
  /** GGUF files that were made of models in other formats. */
  convertedDir: string;
  /** Unfinished downloads, kept so that the next start continues them. */
  downloadsDir: string;
  /** What the disk itself does not tell of the models: imports, aliases, checksums, last use. */
  manifestFile: string;
}

/** `INGLE_HOME` when it is set and not empty, else the user's data folder of this system (XDG on Linux). */
export function libraryPaths(env: NodeJS.ProcessEnv = process.env): LibraryPaths {
  const chosen = env["INGLE_HOME"];
  const home =
    chosen === undefined || chosen === "" ? envPaths("ingle", { suffix: "" }).data : path.resolve(chosen);
  return {
    home,
    modelsDir: path.join(home, "models"),
    convertedDir: path.join(home, "converted"),
    downloadsDir: path.join(home, "downloads"),
    manifestFile: path.join(home, "library.json"),
  };
}

/** Throws `disk_full` or `download_failed` (no right to write). */
export async function makeFolders({ home, modelsDir, downloadsDir }: LibraryPaths): Promise<void> {
  try {
    await mkdir(modelsDir, { recursive: true });
    await mkdir(downloadsDir, { recursive: true });
  } catch (error) {
    throw diskFailure(error, home);
  }
}
