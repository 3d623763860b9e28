// Imports models from anywhere on this machine, in place or as copies.
import { constants } from "node:fs";
import { copyFile, mkdir, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { readGguf } from "@ingle/gguf";
import { isMlxFolder } from "@ingle/mlx";
import { EngineError } from "../base/errors.ts";
import { checkDiskSpace, diskFailure, spareBytes } from "./disk-space.ts";
import { fileBytes, makeFolders, syncFolder } from "./durable-files.ts";
import { groupGgufFiles, partNames, type FileGroup, type ListedFile } from "./gguf-files.ts";
import { listModels, reservedNames, type InstalledModel } from "./installed.ts";
import type { FetchOptions, LibraryOptions } from "./library-options.ts";
import { notGgufMessage } from "./locate.ts";
import {
  readManifest,
  updateManifest,
  withAlias,
  withModel,
  type ManifestFile,
  type ManifestModel,
} from "./manifest.ts";
import { listFiles } from "./model-folders.ts";
import { folderId } from "./mlx/mlx-model.ts";
import { toModelError, toModelFacts } from "./model-facts.ts";
import { checkAlias, isGgufName } from "./model-spec.ts";
import { resolveUserPath } from "../base/home.ts";
import { libraryPaths, type LibraryPaths } from "../base/home.ts";

/** Those of `FetchOptions` are for folders in MLX's format, which are converted. */
export interface ImportOptions extends FetchOptions {
  /** Copies the files into Ingle's folder instead of using them in place. Default false. */
  copy?: boolean | undefined;
  /** An alias for the model. Only if the folder has one model. */
  alias?: string | undefined;
}

interface Candidate {
  group: FileGroup<ListedFile>;
  folder: string;
  quantization: string | undefined;
}

/**
 * Registers a file, or every model of a folder, under their file names. The complete headers are checked. A folder in MLX's
 * format is converted, and named like the folder.
 * Throws `model_not_found`, `model_invalid`, `model_unsupported` (cannot be converted), `invalid_request` (the name is taken),
 * `disk_full`, `library_invalid` or the signal's reason; nothing is registered then.
 */
export async function importModels(from: string, options: ImportOptions = {}): Promise<InstalledModel[]> {
  const { env, cwd = process.cwd(), alias, signal } = options;
  signal?.throwIfAborted();
  if (alias !== undefined) checkAlias(alias, await reservedNames(options));
  const folders = libraryPaths(env);
  const source = resolveUserPath(from, cwd);
  if (await isMlx(source)) return await importMlx(source, options);
  const candidates = await candidatesIn(source);
  if (alias !== undefined && candidates.length > 1) throw severalFor(alias, from);
  const known = await readManifest(folders);
  for (const { group, folder } of candidates) refuseTaken(group, folder, known.models, folders);
  const models: ManifestModel[] = [];
  for (const candidate of candidates) {
    signal?.throwIfAborted();
    models.push(await createEntry(candidate, folders, options));
  }
  await updateManifest(
    folders,
    (manifest) =>
      models.reduce((grown, model) => withAlias(withModel(grown, model), alias, model.id), manifest),
    { signal },
  );
  const ids = new Set(models.map(({ id }) => id));
  return (await listModels(options)).filter(({ id }) => ids.has(id));
}

/**
 * The installed model of a file; an unknown one is imported in place. Throws as `importModels`.
 */
export async function registerModel(file: string, options: LibraryOptions = {}): Promise<InstalledModel> {
  const known = (await listModels(options)).find(({ files }) => files.includes(file));
  const [model] = known === undefined ? await importModels(file, options) : [known];
  if (model === undefined) throw new EngineError("model_not_found", `${file} is gone again.`);
  return model;
}

async function isMlx(source: string): Promise<boolean> {
  const stats = await stat(source).catch(() => undefined);
  return stats?.isDirectory() === true && (await isMlxFolder(source));
}

/** Imports the GGUF file that is made from a folder in MLX's format. */
async function importMlx(folder: string, options: ImportOptions): Promise<InstalledModel[]> {
  const { convertModel } = await import("./mlx/convert-model.ts");
  const folders = libraryPaths(options.env);
  const id = await folderId(folder, options.env);
  const name = path.basename(folder);
  if (id !== name) throw taken(name);
  await convertModel({ id, folder, from: folder, isKept: true }, options);
  await updateManifest(folders, (manifest) => withAlias(manifest, options.alias, id), options);
  return (await listModels(options)).filter((model) => model.id === id);
}

function severalFor(alias: string, from: string): EngineError {
  const message = `${from} has several models, but "${alias}" can only be an alias of one. Import one file.`;
  return new EngineError("invalid_request", message, { details: { alias } });
}

async function candidatesIn(from: string): Promise<Candidate[]> {
  const stats = await stat(from).catch(() => undefined);
  if (stats === undefined) throw new EngineError("model_not_found", `There is nothing at ${from}.`);
  const folder = stats.isDirectory() ? from : path.dirname(from);
  const wanted = stats.isDirectory() ? undefined : partNames(path.basename(from))[0];
  if (wanted !== undefined && !isGgufName(wanted))
    throw new EngineError("model_not_found", await notGgufMessage(from));
  const listed = await (wanted === undefined ? listFiles(folder) : listFiles(folder, 0));
  const groups = groupGgufFiles(listed, "folder").filter(
    ({ files }) => wanted === undefined || files[0]?.path === wanted,
  );
  if (groups.length === 0) throw nothingIn(from);
  return await Promise.all(groups.map(async (group) => await checked(group, folder)));
}

function nothingIn(from: string): EngineError {
  const message =
    `${from} has no complete GGUF model, and is not a folder in MLX's format, ` +
    "with config.json and model*.safetensors.";
  return new EngineError("model_not_found", message);
}

/** Reads every header completely, so that damaged files are not registered. */
async function checked(group: FileGroup<ListedFile>, folder: string): Promise<Candidate> {
  let quantization = group.quantization;
  for (const [index, file] of group.files.entries()) {
    const full = path.join(folder, file.path);
    try {
      const { metadata } = await readGguf(full, { isLenient: true });
      // Only the first part of a split model has the model's metadata.
      if (index === 0) quantization ??= toModelFacts(full, metadata).quantization;
    } catch (error) {
      throw toModelError(full, error);
    }
  }
  return { group, folder, quantization };
}

function refuseTaken(
  { stem, files }: FileGroup<ListedFile>,
  folder: string,
  models: readonly ManifestModel[],
  { modelsDir }: LibraryPaths,
): void {
  const other = models.find(({ id }) => id === stem);
  const first = path.join(folder, files[0]?.path ?? "");
  if (other === undefined || path.resolve(modelsDir, other.files[0]?.path ?? "") === first) return;
  throw taken(stem);
}

function taken(id: string): EngineError {
  const message = `There is already a model called ${id}. Remove it first with \`ingle remove ${id}\`.`;
  return new EngineError("invalid_request", message, { details: { id } });
}

async function createEntry(
  { group, folder, quantization }: Candidate,
  folders: LibraryPaths,
  options: ImportOptions,
): Promise<ManifestModel> {
  const isCopy = options.copy === true;
  const projector = group.mmproj === undefined ? [] : [group.mmproj];
  if (isCopy) await checkSpace([...group.files, ...projector], folders, options);
  const toEntry = async (file: ListedFile): Promise<ManifestFile> => {
    const full = path.join(folder, file.path);
    const name = isCopy ? await copyIn(full, group.stem, folders) : full;
    return { path: name, sizeBytes: file.sizeBytes };
  };
  const files: ManifestFile[] = [];
  for (const file of group.files) files.push(await toEntry(file));
  return {
    id: group.stem,
    quantization: quantization ?? null,
    files,
    mmproj: group.mmproj === undefined ? null : await toEntry(group.mmproj),
    source: { kind: "import", isCopy },
    addedAt: new Date().toISOString(),
  };
}

async function checkSpace(
  files: readonly ListedFile[],
  folders: LibraryPaths,
  { freeBytes }: ImportOptions,
): Promise<void> {
  await makeFolders(folders);
  const neededBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  await checkDiskSpace(folders.home, neededBytes + spareBytes, freeBytes);
}

/** Copies a file to the model's folder. Returns the copy's path for the manifest. */
async function copyIn(
  file: string,
  stem: string,
  { modelsDir, downloadsDir }: LibraryPaths,
): Promise<string> {
  const name = `imported/${stem}/${path.basename(file)}`;
  const target = path.join(modelsDir, name);
  if ((await fileBytes(target)) !== undefined && path.resolve(file) === target) return name;
  const unfinished = path.join(downloadsDir, `${path.basename(file)}.import.part`);
  try {
    await mkdir(path.dirname(target), { recursive: true });
    // If the file system supports it, the copy shares its blocks with the original and takes no time.
    await copyFile(file, unfinished, constants.COPYFILE_FICLONE);
    await rename(unfinished, target);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw diskFailure(error, modelsDir);
  }
  await syncFolder(path.dirname(target));
  return name;
}
