// Takes models away, and what downloads and lost files have left. Used by `ingle remove` and `ingle prune`.
import { readdir, rm, rmdir, stat } from "node:fs/promises";
import path from "node:path";
import { EngineError } from "../errors.ts";
import { diskFailure } from "./disk-space.ts";
import { fileBytes } from "./file-size.ts";
import { absolutePath, findInstalled, listModels, type InstalledModel } from "./installed.ts";
import { isLockHeld } from "./library-lock.ts";
import type { LibraryOptions } from "./library-options.ts";
import { readManifest, updateManifest, withoutModel } from "./manifest.ts";
import { libraryPaths, type LibraryPaths } from "./paths.ts";

/** Something that was taken away, or would be. */
export interface Removal {
  /** An id, or the path of a file that is no model. */
  what: string;
  reason: "asked" | "unfinished" | "unused" | "gone";
  /** What the disk has more of afterwards. */
  freedBytes: number;
}

export interface PruneOptions extends LibraryOptions {
  /** Also removes models of ours that nobody has loaded for this long. Default: none. */
  unusedForMs?: number | undefined;
  /** Only says what would go. Default false. */
  dryRun?: boolean | undefined;
  now?: (() => Date) | undefined;
}

/** What the downloads folder holds while something is on its way. */
const unfinishedPattern = /\.part(?:\.log)?$/;

/**
 * Removes a model by id or alias: its files where they are ours, else only our knowledge of it. Throws `model_not_found`,
 * `invalid_request` (it belongs to another program), `library_invalid` or the signal's reason.
 */
export async function removeModel(name: string, options: LibraryOptions = {}): Promise<Removal> {
  const model = await findInstalled(name, options);
  if (model === undefined) {
    throw new EngineError(
      "model_not_found",
      `There is no model called "${name}" here. \`ingle list\` shows what is.`,
    );
  }
  return await take(model, "asked", options);
}

/** Removes what is of no use any more. Throws `library_invalid`, `download_failed` (no right to write) or the signal's reason. */
export async function pruneLibrary(options: PruneOptions = {}): Promise<Removal[]> {
  const folders = libraryPaths(options.env);
  const whatIsIdle = (await isBusy(folders))
    ? []
    : [...(await pruneDownloads(folders, options)), ...(await pruneConverted(folders, options))];
  return [...whatIsIdle, ...(await pruneLost(folders, options)), ...(await pruneUnused(options))];
}

/** Whether `removeModel` takes it: it is not another program's. */
export function isRemovable({ place }: Pick<InstalledModel, "place">): boolean {
  return ownerOf(place) === undefined;
}

/** The program that looks after the models there; undefined where it is this one. */
function ownerOf(place: InstalledModel["place"]): string | undefined {
  return place === "ingle" || place === "import" ? undefined : owners[place];
}

async function take(
  model: InstalledModel,
  reason: Removal["reason"],
  options: LibraryOptions,
): Promise<Removal> {
  const folders = libraryPaths(options.env);
  const owner = ownerOf(model.place);
  if (owner !== undefined) {
    const message = `${model.id} lies at ${model.path}, which belongs to ${owner}. Remove it there.`;
    throw new EngineError("invalid_request", message, { details: { path: model.path } });
  }
  const files = model.place === "ingle" ? await filesOfNobodyElse(model, options) : [];
  const sizes = await Promise.all(files.map(fileBytes));
  await removeFiles(files, folders);
  try {
    await updateManifest(folders, (manifest) => withoutModel(manifest, model.id), options);
  } catch (error) {
    // On a full disk it cannot be written; a model whose files are gone is in no list all the same, and pruning forgets it.
    if (files.length === 0 || !isUnwritable(error)) throw error;
  }
  return { what: model.id, reason, freedBytes: sizes.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0) };
}

function isUnwritable(error: unknown): boolean {
  return EngineError.is(error) && (error.code === "disk_full" || error.code === "download_failed");
}

/** Two models of a repository share a projector, and two equal folders what was made of them. */
async function filesOfNobodyElse(
  { id, files }: InstalledModel,
  options: LibraryOptions,
): Promise<readonly string[]> {
  const others = (await listModels(options)).filter((other) => other.id !== id);
  const shared = new Set(others.flatMap((other) => other.files));
  return files.filter((file) => !shared.has(file));
}

const owners = { huggingface: "the Hugging Face cache", "lm-studio": "LM Studio", "llama.cpp": "llama.cpp" };

/** Removes the files, and the folders that are empty without them. */
async function removeFiles(files: readonly string[], { modelsDir }: LibraryPaths): Promise<void> {
  try {
    for (const file of files) {
      await rm(file, { force: true });
      for (let folder = path.dirname(file); isBelow(folder, modelsDir); folder = path.dirname(folder)) {
        if ((await readdir(folder)).length > 0) break;
        await rmdir(folder);
      }
    }
  } catch (error) {
    throw diskFailure(error, modelsDir);
  }
}

function isBelow(folder: string, top: string): boolean {
  const relative = path.relative(top, folder);
  return relative !== "" && !relative.startsWith("..") && !path.isAbsolute(relative);
}

/** What is on its way while somebody works on it: downloads and conversions. The files do not say whose they are. */
async function isBusy({ downloadsDir }: LibraryPaths): Promise<boolean> {
  const locks = (await namesIn(downloadsDir)).filter((name) => name.endsWith(".lock"));
  const held = await Promise.all(locks.map((name) => isLockHeld(path.join(downloadsDir, name))));
  return held.includes(true);
}

async function pruneDownloads({ downloadsDir }: LibraryPaths, { dryRun }: PruneOptions): Promise<Removal[]> {
  const unfinished = (await namesIn(downloadsDir)).filter((name) => unfinishedPattern.test(name));
  // Folders of models that were fetched to be converted.
  const folders = (await namesIn(path.join(downloadsDir, "mlx"))).map((name) => path.join("mlx", name));
  const removals: Removal[] = [];
  for (const name of [...unfinished, ...folders]) {
    const file = path.join(downloadsDir, name);
    const freedBytes = await bytesOnDisk(file);
    if (dryRun !== true) await rm(file, { recursive: true, force: true });
    removals.push({ what: file, reason: "unfinished", freedBytes });
  }
  return removals;
}

/** Of a file, or of the files in a folder. A file with holes takes less than its length. */
async function bytesOnDisk(file: string): Promise<number> {
  const stats = await stat(file);
  if (!stats.isDirectory()) return stats.blocks * 512;
  const inside = await Promise.all((await readdir(file)).map((name) => stat(path.join(file, name))));
  return inside.reduce((sum, { blocks }) => sum + blocks * 512, 0);
}

/** Conversions that no model has any more, and those of MLX's format that were never whole. */
async function pruneConverted(
  folders: LibraryPaths,
  { dryRun, ...options }: PruneOptions,
): Promise<Removal[]> {
  const used = new Set((await listModels(options)).flatMap(({ files }) => files));
  const removals: Removal[] = [];
  for (const name of await namesIn(folders.convertedDir)) {
    const file = path.join(folders.convertedDir, name);
    if (used.has(file)) continue;
    const freedBytes = (await fileBytes(file)) ?? 0;
    if (dryRun !== true) await rm(file, { force: true });
    removals.push({ what: file, reason: name.endsWith(".part") ? "unfinished" : "unused", freedBytes });
  }
  return removals;
}

/** Forgets models whose files are gone. */
async function pruneLost(folders: LibraryPaths, options: PruneOptions): Promise<Removal[]> {
  const lost: Removal[] = [];
  for (const { id, files } of (await readManifest(folders)).models) {
    const sizes = await Promise.all(files.map((file) => fileBytes(absolutePath(file, folders))));
    if (sizes.includes(undefined)) lost.push({ what: id, reason: "gone", freedBytes: 0 });
  }
  if (options.dryRun === true || lost.length === 0) return lost;
  await updateManifest(
    folders,
    (manifest) => lost.reduce((rest, { what }) => withoutModel(rest, what), manifest),
    options,
  );
  return lost;
}

async function pruneUnused(options: PruneOptions): Promise<Removal[]> {
  const { unusedForMs, dryRun, now = () => new Date() } = options;
  if (unusedForMs === undefined) return [];
  const before = now().getTime() - unusedForMs;
  const models = await listModels(options);
  const unused: InstalledModel[] = [];
  for (const model of models.filter(({ place }) => place === "ingle")) {
    if ((await lastSeen(model)).getTime() < before) unused.push(model);
  }
  if (dryRun === true)
    return unused.map(({ id, sizeBytes }) => ({ what: id, reason: "unused", freedBytes: sizeBytes }));
  const removals: Removal[] = [];
  for (const model of unused) removals.push(await take(model, "unused", options));
  return removals;
}

/** When the model was last loaded, else when it came. */
async function lastSeen({ lastUsedAt, addedAt, path: file }: InstalledModel): Promise<Date> {
  return lastUsedAt ?? addedAt ?? (await stat(file)).mtime;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).toSorted();
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, "code") === "ENOENT") return [];
    throw error;
  }
}
