// Where a file that is made from a model goes, and how it comes to its name: whole or not at all. Used by
// quantize-model.ts and compute-imatrix.ts.
import { randomUUID } from "node:crypto";
import { open, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { EngineError } from "../errors.ts";
import { checkDiskSpace, diskFailure, spareBytes } from "../library/disk-space.ts";
import { listModels } from "../library/installed.ts";
import type { LibraryOptions } from "../library/library-options.ts";
import { isGgufName } from "../library/model-spec.ts";
import { libraryPaths, makeFolders } from "../library/paths.ts";
import { syncFolder } from "../library/sync-folder.ts";

export interface OutputOptions extends LibraryOptions {
  /** The file to write, or a folder for it. Default: beside the model, under a name made from the model's. */
  output?: string | undefined;
  /** Writes over a file that is there. Default false. */
  overwrite?: boolean | undefined;
}

/**
 * The path to write to. `files` are the model's, which are never written over, and `name` is what the file is called where
 * nobody says. Throws `invalid_request`: the place is taken, the name does not end in ".gguf", or there is no such folder.
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
      : await inFolder(path.resolve(cwd, output), name);
  const isMeantAsFolder = output !== undefined && /[\\/]$/.test(output) && !isGgufName(target);
  if (isMeantAsFolder) throw refusal(`There is no folder ${target}.`, target);
  if (!isGgufName(target))
    throw refusal(`${target} must end in ".gguf": that is how models are found.`, target);
  const folder = await stat(path.dirname(target)).catch(() => undefined);
  if (folder?.isDirectory() !== true) throw refusal(`There is no folder ${path.dirname(target)}.`, target);
  const there = await stat(target).catch(() => undefined);
  if (there === undefined) return target;
  for (const file of files) {
    const { dev, ino } = await stat(file);
    if (dev === there.dev && ino === there.ino)
      throw refusal(`${target} is the model itself, which is not written over. Give another name.`, target);
  }
  if (!there.isFile()) throw refusal(`${target} is there already, and it is no file.`, target);
  if (!overwrite)
    throw refusal(
      `${target} is there already. Remove it, give another name, or overwrite it (--force).`,
      target,
    );
  return target;
}

/**
 * Lets `write` fill an unfinished file beside `target`, which then takes its name. Whatever fails, nothing is left behind.
 * Throws what `write` throws, `disk_full` where the disk was, and `download_failed` without the right to write there.
 */
export async function writeWhole<T>(
  target: string,
  write: (unfinished: string) => Promise<T>,
  { freeBytes }: LibraryOptions,
): Promise<T> {
  const folder = path.dirname(target);
  const unfinished = `${target}.${randomUUID()}.part`;
  try {
    await (await open(unfinished, "wx")).close(); // whether we may write here is found now, not in minutes
    const result = await write(unfinished);
    await using file = await open(unfinished, "r+");
    await file.sync();
    await rename(unfinished, target);
    await syncFolder(folder);
    return result;
  } catch (error) {
    try {
      // The native side only knows that it could not write.
      if (EngineError.is(error) && error.code === "engine_failed")
        await checkDiskSpace(folder, spareBytes, freeBytes, "output");
    } finally {
      await rm(unfinished, { force: true });
    }
    throw diskFailure(error, folder, "output");
  }
}

/** Beside the model; in our own folder where the model's belongs to another program, or is the one of conversions. */
async function folderFor([file = ""]: readonly string[], options: LibraryOptions): Promise<string> {
  const folders = libraryPaths(options.env);
  const folder = path.dirname(file);
  const owner = (await listModels(options)).find(({ files }) => files.includes(file))?.place;
  const isTheirs = owner !== undefined && owner !== "ingle" && owner !== "import";
  // `ingle prune` takes away what is no conversion of a model's from there.
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
