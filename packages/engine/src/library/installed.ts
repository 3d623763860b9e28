// The installed models: those of the manifest, other files in Ingle's folder, and those of other programs.
import path from "node:path";
import { fileBytes } from "./durable-files.ts";
import type { ListedFile } from "./gguf-files.ts";
import {
  readManifest,
  updateManifest,
  type Manifest,
  type ManifestFile,
  type ManifestModel,
} from "./manifest.ts";
import { EngineError } from "../base/errors.ts";
import { scanOtherPrograms, scanRepositories, type FoundModel, type Place } from "./model-folders.ts";
import type { LibraryOptions } from "./library-options.ts";
import { starterModel } from "./npm-model.ts";
import { libraryPaths, type LibraryPaths } from "../base/home.ts";

/** A model that can be loaded without network access. */
export interface InstalledModel {
  /** Its name in requests and on the command line. */
  id: string;
  /** The file to load; the first part of a split model. */
  path: string;
  /** `mlx`: converted from such a build; `path` is the resulting GGUF file. */
  format: "gguf" | "mlx";
  /** Of `path`, in hexadecimal, as it was when it was downloaded; null for files that other programs or the user brought. */
  sha256: string | null;
  quantization: string | null;
  /** The total size of all files, with the projector. */
  sizeBytes: number;
  /** Absolute paths, the projector last. */
  files: readonly string[];
  mmproj: string | null;
  /** In the order in which they were installed. */
  adapters: readonly InstalledAdapter[];
  /** The owner: removing deletes the files of `ingle`, unregisters those of `import`, and refuses those of other programs. */
  place: Place | "import";
  aliases: readonly string[];
  addedAt: Date | null;
  lastUsedAt: Date | null;
}

/** An adapter of an installed model: LoRA or a control vector. */
export interface InstalledAdapter {
  /** The name of model and adapter in requests: `model:adapter`. */
  id: string;
  name: string;
  /** On the hub. */
  repo: string;
  /** A GGUF file, or a folder in the format of PEFT or mlx-lm. */
  path: string;
  /** Absolute paths. */
  files: readonly string[];
  sizeBytes: number;
}

/** All installed models, Ingle's first, each id once. Throws `library_invalid`. */
export async function listModels(options: LibraryOptions = {}): Promise<InstalledModel[]> {
  const { env = process.env } = options;
  const folders = libraryPaths(env);
  const manifest = await readManifest(folders);
  const known = await Promise.all(manifest.models.map((model) => fromManifest(model, manifest, folders)));
  const there = known.filter((model) => model !== undefined);
  const listedFiles = new Set(there.flatMap(({ files }) => files));
  const scanned = [...(await scanOwn(folders)), ...(await scanOtherPrograms(env))].filter(
    ({ files }) => !files.some((file) => listedFiles.has(file.path)),
  );
  const models = [...there, ...scanned.map((found) => fromScan(found, manifest))];
  const adapters = await adaptersIn(manifest, folders);
  const ids = new Set<string>();
  return models
    .filter(({ id }) => !ids.has(id) && ids.add(id).size > 0)
    .map((model) => ({ ...model, adapters: adapters.get(model.id) ?? [] }));
}

/** By the id of their model. Those whose files are missing are left out. */
async function adaptersIn(
  { adapters }: Manifest,
  { adaptersDir }: LibraryPaths,
): Promise<ReadonlyMap<string, InstalledAdapter[]>> {
  const byBase = new Map<string, InstalledAdapter[]>();
  for (const { base, name, repo, path: own, files } of adapters) {
    const paths = files.map((file) => path.resolve(adaptersDir, file.path));
    const sizes = await Promise.all(paths.map(fileBytes));
    if (sizes.some((size, index) => size !== files[index]?.sizeBytes)) continue;
    const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
    const adapter = {
      id: `${base}:${name}`,
      name,
      repo,
      path: path.resolve(adaptersDir, own),
      files: paths,
      sizeBytes,
    };
    byBase.set(base, [...(byBase.get(base) ?? []), adapter]);
  }
  return byBase;
}

/** The installed model of this id or alias. */
export async function findInstalled(
  name: string,
  options: LibraryOptions = {},
): Promise<InstalledModel | undefined> {
  const models = await listModels(options);
  return models.find(({ id }) => id === name) ?? models.find(({ aliases }) => aliases.includes(name));
}

/** The projector of the model with this file. */
export async function findInstalledProjector(
  file: string,
  options: LibraryOptions = {},
): Promise<string | undefined> {
  const models = await listModels(options);
  return models.find((model) => model.path === file)?.mmproj ?? undefined;
}

/** The adapters of the model with this file. */
export async function findInstalledAdapters(
  file: string,
  options: LibraryOptions = {},
): Promise<readonly InstalledAdapter[]> {
  const models = await listModels(options);
  return models.find((model) => model.path === file)?.adapters ?? [];
}

/** The ids of all models, which cannot be aliases. */
export async function reservedNames(options: LibraryOptions): Promise<string[]> {
  return [starterModel.id, ...(await listModels(options)).map(({ id }) => id)];
}

/**
 * Records that the model is used now. Returns false if the library is not writable, as in a container with models in its
 * image: that must not prevent using the model.
 */
export async function recordUse(id: string, options: LibraryOptions = {}): Promise<boolean> {
  const now = new Date().toISOString();
  try {
    await updateManifest(
      libraryPaths(options.env),
      (manifest) => ({ ...manifest, lastUsed: { ...manifest.lastUsed, [id]: now } }),
      options,
    );
    return true;
  } catch (error) {
    if (EngineError.is(error) && (error.code === "download_failed" || error.code === "disk_full"))
      return false;
    throw error;
  }
}

/** Absolute path of a file in the manifest. */
export function absolutePath(file: Pick<ManifestFile, "path">, { modelsDir }: LibraryPaths): string {
  return path.resolve(modelsDir, file.path);
}

async function scanOwn(folders: LibraryPaths): Promise<FoundModel[]> {
  const found = await scanRepositories(folders.modelsDir, "ingle");
  const starterPath = path.join(folders.modelsDir, starterModel.fileName);
  return found.flatMap((model) => {
    const [file] = model.files;
    if (file?.path !== starterPath) return [model];
    // A damaged one is downloaded again.
    return file.sizeBytes === starterModel.sizeBytes ? [{ ...model, id: starterModel.id }] : [];
  });
}

/** Undefined if a file of the model is missing or has another size. */
async function fromManifest(
  model: ManifestModel,
  manifest: Manifest,
  folders: LibraryPaths,
): Promise<InstalledModel | undefined> {
  const files = [...model.files, ...(model.mmproj === null ? [] : [model.mmproj])];
  const sizes = await Promise.all(files.map((file) => fileBytes(absolutePath(file, folders))));
  if (sizes.some((size, index) => size !== files[index]?.sizeBytes)) return undefined;
  const isElsewhere = model.source.kind === "import" && !model.source.isCopy;
  return toInstalled(
    {
      id: model.id,
      place: isElsewhere ? "import" : "ingle",
      format: model.source.kind === "mlx" ? "mlx" : "gguf",
      sha256: model.files[0]?.sha256 ?? null,
      quantization: model.quantization ?? undefined,
      files: model.files.map((file) => ({ ...file, path: absolutePath(file, folders) })),
      mmproj:
        model.mmproj === null ? undefined : { ...model.mmproj, path: absolutePath(model.mmproj, folders) },
    },
    manifest,
    new Date(model.addedAt),
  );
}

function fromScan(found: FoundModel, manifest: Manifest): InstalledModel {
  return toInstalled({ ...found, format: "gguf", sha256: null }, manifest, null);
}

function toInstalled(
  {
    id,
    place,
    format,
    sha256,
    quantization,
    files,
    mmproj,
  }: Omit<FoundModel, "place"> & Pick<InstalledModel, "place" | "format" | "sha256">,
  { aliases, lastUsed }: Manifest,
  addedAt: Date | null,
): InstalledModel {
  const all: ListedFile[] = [...files, ...(mmproj === undefined ? [] : [mmproj])];
  const usedAt = lastUsed[id];
  return {
    id,
    path: files[0]?.path ?? "",
    format,
    sha256,
    quantization: quantization ?? null,
    sizeBytes: all.reduce((sum, file) => sum + file.sizeBytes, 0),
    files: all.map((file) => file.path),
    mmproj: mmproj?.path ?? null,
    adapters: [],
    place,
    aliases: Object.keys(aliases).filter((alias) => aliases[alias] === id),
    addedAt,
    lastUsedAt: usedAt === undefined ? null : new Date(usedAt),
  };
}
