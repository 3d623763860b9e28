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
  /** What the user has set, for programs that keep it. */
  configDir: string;
}

/** In `INGLE_HOME` when it is set and not empty, else in the user's data and config folders of this system (XDG on Linux). */
export function libraryPaths(env: NodeJS.ProcessEnv = process.env): LibraryPaths {
  const chosen = env["INGLE_HOME"];
  const isChosen = chosen !== undefined && chosen !== "";
  const usual = envPaths("ingle", { suffix: "" });
  const home = isChosen ? path.resolve(chosen) : usual.data;
  return {
    home,
    modelsDir: path.join(home, "models"),
    convertedDir: path.join(home, "converted"),
    downloadsDir: path.join(home, "downloads"),
    manifestFile: path.join(home, "library.json"),
    configDir: isChosen ? path.join(home, "config") : usual.config,
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
