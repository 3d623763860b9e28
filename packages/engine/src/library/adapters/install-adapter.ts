// Installs adapters of the hub beside the model that they are for.
//
//   adapters/<org>/<repo>/    the adapter's files, as the repository has them
import { rm } from "node:fs/promises";
import path from "node:path";
import { adapterBytesMax, checkAdapters } from "./adapter-file.ts";
import { AdapterName, adaptersMax } from "../../generate/adapter-options.ts";
import { EngineError } from "../../base/errors.ts";
import { downloadFiles, type HubSourceOptions } from "../hub/download-files.ts";
import { downloadSmall } from "../hub/download-small.ts";
import type { HubFile } from "../hub/hub-api.ts";
import { listModels, type InstalledAdapter, type InstalledModel } from "../installed.ts";
import type { FetchOptions } from "../library-options.ts";
import { readManifest, updateManifest, withAdapter, type ManifestAdapter } from "../manifest.ts";
import { fileBytes } from "../durable-files.ts";
import type { AdapterRepository } from "./adapter-repository.ts";
import { findAdapterBase } from "./adapter-base.ts";
import { libraryPaths, type LibraryPaths } from "../../base/home.ts";

type Chosen = NonNullable<FetchOptions["adapter"]>;

/**
 * Downloads the adapter unless it is installed, checks that it fits its model, and adds it to the manifest. Returns its path. Throws as
 * `fetchModel`, `baseOfAdapter` and `checkAdapters`; `invalid_request` for a name that another adapter of the model has.
 */
export async function installAdapter(
  found: AdapterRepository | InstalledAdapter,
  chosen: Chosen,
  options: HubSourceOptions = {},
): Promise<string> {
  const folders = libraryPaths(options.env);
  const entry = "repository" in found ? toManifestEntry(found) : await entryInstalled(found, folders);
  const adapter = { path: path.join(folders.adaptersDir, entry.path), repo: entry.repo };
  if ("repository" in found) {
    await downloadAdapter(found, folders, options, async () => {
      const models = await listModels(options);
      // Before the weights are downloaded in vain.
      if (found.kind === "folder")
        await orDiscard(adapter, folders, async () => await findAdapterBase(adapter, chosen.base, models));
    });
  } else if (chosen.base === undefined && chosen.name === undefined) return adapter.path;
  const models = await listModels(options);
  const kept = "repository" in found ? undefined : models.find(({ id }) => id === entry.base);
  const base =
    chosen.base === undefined && kept !== undefined
      ? kept
      : await findAdapterBase(adapter, chosen.base, models);
  const name = nameFor(chosen.name ?? (kept === undefined ? undefined : entry.name), entry.repo, base);
  const wanted = [{ name, path: adapter.path }];
  await orDiscard(adapter, folders, async () => await checkAdapters(base.path, wanted, options.env));
  const finished = { ...entry, base: base.id, name };
  await updateManifest(folders, (manifest) => withAdapter(manifest, finished), options);
  return adapter.path;
}

function toManifestEntry({ repository, kind, files }: AdapterRepository): ManifestAdapter {
  const { repo, commit } = repository;
  const own = files.map(({ path: name, sizeBytes, sha256 }) => ({
    path: `${repo}/${name}`,
    sizeBytes,
    ...(sha256 === undefined ? {} : { sha256 }),
  }));
  const [first = { path: repo }] = own;
  return {
    repo,
    commit,
    base: "",
    name: "",
    path: kind === "folder" ? repo : first.path,
    files: own,
    addedAt: new Date().toISOString(),
  };
}

async function entryInstalled({ repo }: InstalledAdapter, folders: LibraryPaths): Promise<ManifestAdapter> {
  const entry = (await readManifest(folders)).adapters.find((adapter) => adapter.repo === repo);
  if (entry !== undefined) return entry;
  throw new EngineError("model_not_found", `${repo} was removed meanwhile. Pull it again.`);
}

/** Downloads what is missing. `beforeLarge` is called when the small files are there. */
async function downloadAdapter(
  { repository, files }: AdapterRepository,
  { adaptersDir }: LibraryPaths,
  options: HubSourceOptions,
  beforeLarge: () => Promise<void>,
): Promise<void> {
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (bytes > adapterBytesMax) {
    const message = `The adapter ${repository.repo} has ${bytes} bytes; at most ${adapterBytesMax} are allowed.`;
    throw new EngineError("model_unsupported", message);
  }
  const targetPath = (file: HubFile): string => path.join(adaptersDir, repository.repo, file.path);
  const missing = async (wanted: readonly HubFile[]): Promise<HubFile[]> => {
    const sizes = await Promise.all(wanted.map((file) => fileBytes(targetPath(file))));
    return wanted.filter((file, index) => sizes[index] !== file.sizeBytes);
  };
  for (const file of files.filter(({ sha256 }) => sha256 === undefined))
    await downloadSmall(file, repository, targetPath(file), options);
  await beforeLarge();
  const large = files.filter(({ sha256 }) => sha256 !== undefined);
  await downloadFiles({ repository, files: large, targetPath, missing }, options, async () => {});
}

/** The given name, or the repository's if it is free. Throws `invalid_request`. */
function nameFor(given: string | undefined, repo: string, { id, adapters }: InstalledModel): string {
  const name = AdapterName.safeParse(given ?? path.posix.basename(repo).replace(/^_+/, "").slice(0, 64));
  const others = adapters.filter((adapter) => adapter.repo !== repo);
  const problem = !name.success
    ? `The name of an adapter ${name.error.issues[0]?.message ?? "is not valid"}. Choose one with --alias.`
    : others.some((other) => other.name === name.data)
      ? `${id} already has an adapter called ${name.data}. Choose another name with --alias.`
      : others.length >= adaptersMax
        ? `${id} already has ${adaptersMax} adapters. Remove one with \`ingle remove\`.`
        : undefined;
  if (problem !== undefined || !name.success)
    throw new EngineError("invalid_request", problem ?? "", { details: { param: "alias" } });
  return name.data;
}

/** Deletes the files of an adapter that was refused, unless it is installed already. */
async function orDiscard<T>(
  adapter: { path: string },
  folders: LibraryPaths,
  task: () => Promise<T>,
): Promise<T> {
  try {
    return await task();
  } catch (error) {
    const { adapters } = await readManifest(folders);
    const isInstalled = adapters.some(
      ({ path: other }) => path.join(folders.adaptersDir, other) === adapter.path,
    );
    if (!isInstalled) await rm(adapter.path, { recursive: true, force: true });
    throw error;
  }
}
