// The user's folders: models, reports, settings. And paths as people type them: `~` stands for the home folder. Shells expand it, but
// the fields of a page, variables, `--flag=~/x` and configuration files do not.
import path from "node:path";
import envPaths from "env-paths";
import os from "node:os";

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
  const home = isChosen ? resolveUserPath(chosen) : usual.data;
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

/** The absolute path. `~/` (and `~\\`), or `~` alone, is the home folder; a relative path begins at `cwd`. */
export function resolveUserPath(text: string, cwd: string = process.cwd()): string {
  return path.resolve(cwd, expandTilde(text));
}

export function expandTilde(text: string): string {
  return /^~(?:[\\/]|$)/.test(text) ? path.join(os.homedir(), text.slice(1)) : text;
}
