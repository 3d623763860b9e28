// The path of a file made from a model, and writing it completely or not at all.
import { randomUUID } from "node:crypto";
import { open, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { EngineError } from "../base/errors.ts";
import { checkDiskSpace, diskFailure, spareBytes } from "../library/disk-space.ts";
import { listModels } from "../library/installed.ts";
import type { LibraryOptions } from "../library/library-options.ts";
import { isGgufName } from "../library/model-spec.ts";
import { makeFolders, syncFile, syncFolder } from "../library/durable-files.ts";
import { resolveUserPath } from "../base/home.ts";
import { libraryPaths } from "../base/home.ts";

export interface OutputOptions extends LibraryOptions {
  /** The file to write, or a folder for it. Default: a name derived from the model's, next to it, or in Ingle's folder if it was imported or belongs to another program. */
  output?: string | undefined;
  /** Overwrites an existing file. Default false. */
  overwrite?: boolean | undefined;
}

/**
 * The path to write to. `files` are the model's, which are never overwritten; `name` is the file's default name. Throws
 * `invalid_request` if the file exists, its name does not end in ".gguf", or its folder does not exist.
 */
export async function chooseOutput(
  files: readonly string[],
  name: string,
  options: OutputOptions,
): Promise<string> {
  const { output, overwrite = false, cwd = process.cwd() } = options;
  const target =
    output === undefined
      ? path.join(await folderFor(files, options), name)
      : await inFolder(resolveUserPath(output, cwd), name);
  const isMeantAsFolder = output !== undefined && /[\\/]$/.test(output) && !isGgufName(target);
  if (isMeantAsFolder) throw refusal(`There is no folder ${target}.`, target);
  if (!isGgufName(target)) throw refusal(`${target} must end in ".gguf": models are found by it.`, target);
  const folder = await stat(path.dirname(target)).catch(() => undefined);
  if (folder?.isDirectory() !== true) throw refusal(`There is no folder ${path.dirname(target)}.`, target);
  const there = await stat(target).catch(() => undefined);
  if (there === undefined) return target;
  for (const file of files) {
    const { dev, ino } = await stat(file);
    if (dev === there.dev && ino === there.ino)
      throw refusal(`${target} is the model itself, which is not overwritten. Choose another name.`, target);
  }
  if (!there.isFile()) throw refusal(`${target} exists already, and is not a regular file.`, target);
  if (!overwrite)
    throw refusal(
      `${target} exists already. Remove it, choose another name, or overwrite it (--force).`,
      target,
    );
  return target;
}

/**
 * Lets `write` write an unfinished file next to `target`, and renames it at the end. On any failure nothing is left behind.
 * Throws what `write` throws, `disk_full` if the disk is full, and `download_failed` without write permission.
 */
export async function writeAtomically<T>(
  target: string,
  write: (unfinished: string) => Promise<T>,
  { freeBytes }: LibraryOptions,
): Promise<T> {
  const folder = path.dirname(target);
  const unfinished = `${target}.${randomUUID()}.part`;
  try {
    await (await open(unfinished, "wx")).close(); // detects missing permissions now instead of in minutes
    const result = await write(unfinished);
    await syncFile(unfinished);
    await rename(unfinished, target);
    await syncFolder(folder);
    return result;
  } catch (error) {
    try {
      // Native code does not report why it could not write.
      if (EngineError.is(error) && error.code === "engine_failed")
        await checkDiskSpace(folder, spareBytes, freeBytes, "output");
    } finally {
      await rm(unfinished, { force: true });
    }
    throw diskFailure(error, folder, "output");
  }
}

/** Next to a model of the library's own or of a folder that it does not know; in Ingle's own folder if the model was imported, belongs to another program or was converted. */
async function folderFor([file = ""]: readonly string[], options: LibraryOptions): Promise<string> {
  const folders = libraryPaths(options.env);
  const folder = path.dirname(file);
  const owner = (await listModels(options)).find(({ files }) => files.includes(file))?.place;
  // Also for a file that was imported in place: what Ingle makes is Ingle's, so that removing the model deletes it.
  const isTheirs = owner !== undefined && owner !== "ingle";
  // `ingle prune` removes everything but conversions from there.
  if (!isTheirs && folder !== folders.convertedDir) return folder;
  await makeFolders(folders);
  return folders.modelsDir;
}

async function inFolder(output: string, name: string): Promise<string> {
  const stats = await stat(output).catch(() => undefined);
  return stats?.isDirectory() === true ? path.join(output, name) : output;
}

function refusal(message: string, target: string): EngineError {
  return new EngineError("invalid_request", message, { details: { path: target } });
}
