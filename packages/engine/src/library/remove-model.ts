// Removes models, and prunes leftovers of downloads and conversions.
import { readdir, rm, rmdir, stat } from "node:fs/promises";
import path from "node:path";
import { errorCode, EngineError } from "../base/errors.ts";
import { diskFailure } from "./disk-space.ts";
import { fileBytes } from "./durable-files.ts";
import {
  absolutePath,
  findInstalled,
  listModels,
  type InstalledAdapter,
  type InstalledModel,
} from "./installed.ts";
import { isLocked } from "./library-lock.ts";
import type { LibraryOptions } from "./library-options.ts";
import { readManifest, updateManifest, withoutAdapter, withoutModel } from "./manifest.ts";
import { libraryPaths, type LibraryPaths } from "../base/home.ts";

/** Something that was removed, or would be. */
export interface Removal {
  /** The id of a model, or the path of another file. */
  what: string;
  reason: "asked" | "unfinished" | "unused" | "gone" | "orphaned";
  /** Freed disk space. */
  freedBytes: number;
}

export interface PruneOptions extends LibraryOptions {
  /** Also removes Ingle's models that were not loaded for this long. Default: none. */
  unusedForMs?: number | undefined;
  /** Only reports what would be removed. Default false. */
  dryRun?: boolean | undefined;
  now?: (() => Date) | undefined;
}

/** Unfinished downloads. */
const unfinishedPattern = /\.part(?:\.log)?$/;

/**
 * Removes a model by id or alias, or an adapter as `model:adapter` or by its repository. Deletes its files if they are Ingle's; files that were imported in place stay. Throws
 * `model_not_found`, `invalid_request` (it belongs to another program), `library_invalid` or the signal's reason.
 */
export async function removeModel(name: string, options: LibraryOptions = {}): Promise<Removal> {
  const model = await findInstalled(name, options);
  if (model === undefined) {
    const adapter = await findAdapter(name, options);
    if (adapter !== undefined) return await removeAdapter(adapter, options);
    throw new EngineError(
      "model_not_found",
      `There is no model called "${name}" here. \`ingle list\` shows the installed ones.`,
    );
  }
  return await removeInstalled(model, "asked", options);
}

async function findAdapter(name: string, options: LibraryOptions): Promise<InstalledAdapter | undefined> {
  const adapters = (await listModels(options)).flatMap((model) => model.adapters);
  return adapters.find(({ id, repo }) => id === name || repo === name);
}

async function removeAdapter(
  { id, repo, files, sizeBytes }: InstalledAdapter,
  options: LibraryOptions,
): Promise<Removal> {
  const folders = libraryPaths(options.env);
  await removeFiles(files, folders.adaptersDir);
  await updateManifest(folders, (manifest) => withoutAdapter(manifest, repo), options);
  return { what: id, reason: "asked", freedBytes: sizeBytes };
}

/** Removes everything that is no longer needed. Throws `library_invalid`, `download_failed` (not writable) or the signal's reason. */
export async function pruneLibrary(options: PruneOptions = {}): Promise<Removal[]> {
  const folders = libraryPaths(options.env);
  const leftovers = (await isBusy(folders))
    ? []
    : [...(await pruneDownloads(folders, options)), ...(await pruneConverted(folders, options))];
  const models = [...(await pruneMissing(folders, options)), ...(await pruneUnused(options))];
  return [...leftovers, ...models, ...(await pruneAdapters(folders, options))];
}

/** Whether `removeModel` can remove it: whether it does not belong to another program. */
export function isRemovable({ place }: Pick<InstalledModel, "place">): boolean {
  return otherOwner(place) === undefined;
}

/** The other program that the model belongs to, if any. */
function otherOwner(place: InstalledModel["place"]): string | undefined {
  return place === "ingle" || place === "import" ? undefined : owners[place];
}

async function removeInstalled(
  model: InstalledModel,
  reason: Removal["reason"],
  options: LibraryOptions,
): Promise<Removal> {
  const folders = libraryPaths(options.env);
  const owner = otherOwner(model.place);
  if (owner !== undefined) {
    const message = `${model.id} is at ${model.path}, which belongs to ${owner}. Remove it there.`;
    throw new EngineError("invalid_request", message, { details: { path: model.path } });
  }
  const files = model.place === "ingle" ? await unsharedFiles(model, options) : [];
  const sizes = await Promise.all(files.map(fileBytes));
  await removeFiles(files, folders.modelsDir);
  try {
    await updateManifest(folders, (manifest) => withoutModel(manifest, model.id), options);
  } catch (error) {
    // A full disk prevents writing the manifest. The model is not listed without its files, and pruning removes its entry.
    if (files.length === 0 || !isUnwritable(error)) throw error;
  }
  return { what: model.id, reason, freedBytes: sizes.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0) };
}

function isUnwritable(error: unknown): boolean {
  return EngineError.is(error) && (error.code === "disk_full" || error.code === "download_failed");
}

/** Models of one repository share a projector, and equal folders share their conversion. */
async function unsharedFiles(
  { id, files }: InstalledModel,
  options: LibraryOptions,
): Promise<readonly string[]> {
  const others = (await listModels(options)).filter((other) => other.id !== id);
  const shared = new Set(others.flatMap((other) => other.files));
  return files.filter((file) => !shared.has(file));
}

const owners = { huggingface: "the Hugging Face cache", "lm-studio": "LM Studio", "llama.cpp": "llama.cpp" };

/** Deletes the files, and folders below `top` that become empty. */
async function removeFiles(files: readonly string[], top: string): Promise<void> {
  try {
    for (const file of files) {
      await rm(file, { force: true });
      for (let folder = path.dirname(file); isBelow(folder, top); folder = path.dirname(folder)) {
        if ((await readdir(folder)).length > 0) break;
        await rmdir(folder);
      }
    }
  } catch (error) {
    throw diskFailure(error, top);
  }
}

function isBelow(folder: string, top: string): boolean {
  const relative = path.relative(top, folder);
  return relative !== "" && !relative.startsWith("..") && !path.isAbsolute(relative);
}

/** Whether another process downloads or converts. Unfinished files do not show which process they belong to. */
async function isBusy({ downloadsDir }: LibraryPaths): Promise<boolean> {
  const locks = (await namesIn(downloadsDir)).filter((name) => name.endsWith(".lock"));
  const locked = await Promise.all(locks.map((name) => isLocked(path.join(downloadsDir, name))));
  return locked.includes(true);
}

async function pruneDownloads({ downloadsDir }: LibraryPaths, { dryRun }: PruneOptions): Promise<Removal[]> {
  const unfinished = (await namesIn(downloadsDir)).filter((name) => unfinishedPattern.test(name));
  // Downloads that were to be converted.
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

/** The size of a file, or of the files in a folder, on disk. A file with holes takes less than its length. */
async function bytesOnDisk(file: string): Promise<number> {
  const stats = await stat(file);
  if (!stats.isDirectory()) return stats.blocks * 512;
  const inside = await Promise.all((await readdir(file)).map((name) => stat(path.join(file, name))));
  return inside.reduce((sum, { blocks }) => sum + blocks * 512, 0);
}

/** Removes conversions that no model uses any more, and unfinished ones. */
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

/** Removes the entries of models whose files are missing. */
async function pruneMissing(folders: LibraryPaths, options: PruneOptions): Promise<Removal[]> {
  const missing: Removal[] = [];
  for (const { id, files } of (await readManifest(folders)).models) {
    const sizes = await Promise.all(files.map((file) => fileBytes(absolutePath(file, folders))));
    if (sizes.includes(undefined)) missing.push({ what: id, reason: "gone", freedBytes: 0 });
  }
  if (options.dryRun === true || missing.length === 0) return missing;
  await updateManifest(
    folders,
    (manifest) => missing.reduce((rest, { what }) => withoutModel(rest, what), manifest),
    options,
  );
  return missing;
}

async function pruneUnused(options: PruneOptions): Promise<Removal[]> {
  const { unusedForMs, dryRun, now = () => new Date() } = options;
  if (unusedForMs === undefined) return [];
  const before = now().getTime() - unusedForMs;
  const models = await listModels(options);
  const unused: InstalledModel[] = [];
  for (const model of models.filter(({ place }) => place === "ingle")) {
    if ((await lastUse(model)).getTime() < before) unused.push(model);
  }
  if (dryRun === true)
    return unused.map(({ id, sizeBytes }) => ({ what: id, reason: "unused", freedBytes: sizeBytes }));
  const removals: Removal[] = [];
  for (const model of unused) removals.push(await removeInstalled(model, "unused", options));
  return removals;
}

/** Removes adapters of models that are not installed, and those whose files are missing. */
async function pruneAdapters(folders: LibraryPaths, options: PruneOptions): Promise<Removal[]> {
  const listed = new Set(
    (await listModels(options)).flatMap(({ adapters }) => adapters.map(({ repo }) => repo)),
  );
  const removals: Removal[] = [];
  for (const { repo, files } of (await readManifest(folders)).adapters) {
    if (listed.has(repo)) continue;
    const paths = files.map((file) => path.resolve(folders.adaptersDir, file.path));
    const sizes = await Promise.all(paths.map(fileBytes));
    if (options.dryRun !== true) {
      await removeFiles(paths, folders.adaptersDir);
      await updateManifest(folders, (manifest) => withoutAdapter(manifest, repo), options);
    }
    const freedBytes = sizes.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0);
    removals.push({ what: repo, reason: freedBytes === 0 ? "gone" : "orphaned", freedBytes });
  }
  return removals;
}

/** When the model was last loaded, or else added. */
async function lastUse({ lastUsedAt, addedAt, path: file }: InstalledModel): Promise<Date> {
  return lastUsedAt ?? addedAt ?? (await stat(file)).mtime;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).toSorted();
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}
