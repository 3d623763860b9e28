// Finds a program in PATH, as a shell does.
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import path from "node:path";

/** What a search needs of the process. */
interface ProgramSearch {
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** Whether a file can be started. Default: asks the file system. */
  readonly isProgram?: (file: string) => Promise<boolean>;
}

/** What Windows runs by default, from the kinds that Node can start. */
const usualExtensions = ".COM;.EXE;.BAT;.CMD";

/** The path of the first of these commands that is in PATH; undefined if none is. */
export async function findProgram(
  commands: readonly string[],
  { env, platform, isProgram = (file) => canBeStarted(file, platform) }: ProgramSearch,
): Promise<string | undefined> {
  const paths = platform === "win32" ? path.win32 : path.posix;
  const folders = (pathVariable(env, platform) ?? "")
    .split(paths.delimiter)
    .filter((folder) => folder !== "");
  const extensions = platform === "win32" ? windowsExtensions(env) : [""];
  for (const command of commands)
    for (const folder of folders)
      for (const extension of extensions) {
        const file = paths.join(folder, command + extension);
        if (await isProgram(file)) return file;
      }
  return undefined;
}

/** Windows writes it as `Path`, and does not distinguish the two. */
function pathVariable(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string | undefined {
  if (platform !== "win32") return env["PATH"];
  return Object.entries(env).find(([name]) => name.toUpperCase() === "PATH")?.[1];
}

/** In lower case, as programs are usually named. */
function windowsExtensions(env: NodeJS.ProcessEnv): string[] {
  const given = env["PATHEXT"] ?? "";
  return (given === "" ? usualExtensions : given)
    .toLowerCase()
    .split(";")
    .filter((extension) => usualExtensions.toLowerCase().split(";").includes(extension));
}

async function canBeStarted(file: string, platform: NodeJS.Platform): Promise<boolean> {
  try {
    if (!(await stat(file)).isFile()) return false;
    // Windows has no permission to execute: the extension decides.
    await access(file, platform === "win32" ? constants.F_OK : constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
