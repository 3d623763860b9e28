// Where Ingle keeps what it has downloaded. Everything that touches the library's disk asks here.
import path from "node:path";
import envPaths from "env-paths";

export interface LibraryPaths {
  /** The folder that holds everything of Ingle's; in messages it is the one a person can move. */
  home: string;
  /** Whole, checked model files. */
  modelsDir: string;
  /** Unfinished downloads, kept so that the next start continues them. */
  downloadsDir: string;
}

/** `INGLE_HOME` when it is set and not empty, else the user's data folder of this system (XDG on Linux). */
export function libraryPaths(env: NodeJS.ProcessEnv = process.env): LibraryPaths {
  const chosen = env["INGLE_HOME"];
  const home =
    chosen === undefined || chosen === "" ? envPaths("ingle", { suffix: "" }).data : path.resolve(chosen);
  return { home, modelsDir: path.join(home, "models"), downloadsDir: path.join(home, "downloads") };
}
