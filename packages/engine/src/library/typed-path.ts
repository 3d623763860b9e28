// Paths as people type them: `~` stands for the home folder. Shells expand it, but the fields of a page, variables, `--flag=~/x` and
// configuration files do not.
import os from "node:os";
import path from "node:path";

/** The absolute path. `~/` (and `~\\`), or `~` alone, is the home folder; a relative path begins at `cwd`. */
export function resolveTyped(text: string, cwd: string = process.cwd()): string {
  return path.resolve(cwd, withoutTilde(text));
}

export function withoutTilde(text: string): string {
  return /^~(?:[\\/]|$)/.test(text) ? path.join(os.homedir(), text.slice(1)) : text;
}
