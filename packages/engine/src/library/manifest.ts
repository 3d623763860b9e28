// library.json: data about models that their files do not contain. One process at a time writes it completely and renames it
// into place, so that readers always find a complete file. Models in Ingle's folder are found without it too.
import { mkdir, readFile } from "node:fs/promises";
import { z } from "zod";
import { AdapterName } from "../generate/adapter-options.ts";
import { writeAtomically } from "../base/atomic-file.ts";
import { errorCode, EngineError } from "../base/errors.ts";
import { diskFailure } from "./disk-space.ts";
import { lockFile } from "./library-lock.ts";
import type { LibraryPaths } from "../base/home.ts";
import { pause } from "./retry.ts";

const ManifestFile = z.object({
  /** Relative to the models folder, or absolute for files elsewhere. */
  path: z.string().min(1),
  sizeBytes: z.int().nonnegative(),
  sha256: z.string().optional(),
});
export type ManifestFile = z.infer<typeof ManifestFile>;

const ManifestModel = z.object({
  id: z.string().min(1),
  quantization: z.string().nullable(),
  /** One file, or all parts of a split model in order. */
  files: z.array(ManifestFile).min(1),
  /** The projector for images, kept with the model. */
  mmproj: ManifestFile.nullable(),
  source: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("hub"), repo: z.string(), commit: z.string() }),
    z.object({ kind: z.literal("npm"), packages: z.array(z.string()) }),
    /** `isCopy`: the files are in Ingle's folder and are deleted with the model. */
    z.object({ kind: z.literal("import"), isCopy: z.boolean() }),
    /**
     * Converted from MLX's format. `from`: the folder, or `org/repo@commit`. `digest`: of its contents. `look`: the folder's
     * `FolderContents.look`; null if the folder was deleted. `exact`: as in `FetchOptions`.
     */
    z.object({
      kind: z.literal("mlx"),
      from: z.string(),
      digest: z.string(),
      look: z.string().nullable(),
      exact: z.boolean(),
    }),
  ]),
  addedAt: z.string(),
});
export type ManifestModel = z.infer<typeof ManifestModel>;

const ManifestAdapter = z.object({
  /** On the hub. Each repository is installed once. */
  repo: z.string().min(1),
  commit: z.string(),
  /** The id of the model that it is loaded with, and its name there. */
  base: z.string().min(1),
  name: AdapterName,
  /** Relative to the adapters' folder: a GGUF file, or a folder in the format of PEFT or mlx-lm. */
  path: z.string().min(1),
  /** Relative to the adapters' folder too. */
  files: z.array(ManifestFile).min(1),
  addedAt: z.string(),
});
export type ManifestAdapter = z.infer<typeof ManifestAdapter>;

const Manifest = z.object({
  version: z.literal(1),
  models: z.array(ManifestModel),
  adapters: z.array(ManifestAdapter).default([]),
  /** Ids by alias. */
  aliases: z.record(z.string(), z.string()),
  /** When a model was last loaded, by id, as an ISO date. */
  lastUsed: z.record(z.string(), z.string()),
});
export type Manifest = z.infer<typeof Manifest>;

const empty: Manifest = { version: 1, models: [], adapters: [], aliases: {}, lastUsed: {} };
/** The lock is only held while the file is written. */
const pollMs = 50;

/** Returns an empty manifest if there is no file. Throws `library_invalid` if the file is invalid. */
export async function readManifest({ manifestFile }: LibraryPaths): Promise<Manifest> {
  const text = await readTextIfPresent(manifestFile);
  if (text === undefined) return empty;
  try {
    return Manifest.parse(JSON.parse(text));
  } catch (error) {
    const message =
      `${manifestFile} cannot be read: it is damaged, or from a newer Ingle. Rename it and start again: models in the ` +
      "models folder are found without it; imports and aliases must be made again.";
    throw new EngineError("library_invalid", message, { cause: error, details: { path: manifestFile } });
  }
}

/** Changes the manifest. Throws `library_invalid`, `disk_full`, `download_failed` (not writable) or the signal's reason. */
export async function updateManifest(
  folders: LibraryPaths,
  change: (manifest: Manifest) => Manifest,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<void> {
  try {
    await mkdir(folders.home, { recursive: true });
    await using _lock = await lockFile(`${folders.manifestFile}.lock`, {
      wait: async (ms, options) => await pause(Math.min(ms, pollMs), options),
      signal,
    });
    const changed = change(await readManifest(folders));
    await writeAtomically(folders.manifestFile, `${JSON.stringify(changed, undefined, 2)}\n`);
  } catch (error) {
    throw diskFailure(error, folders.home);
  }
}

/** Adds the model, or replaces the one of the same id. */
export function withModel(manifest: Manifest, model: ManifestModel): Manifest {
  return { ...manifest, models: [...manifest.models.filter(({ id }) => id !== model.id), model] };
}

/** Adds the adapter, or replaces the one of the same repository. */
export function withAdapter(manifest: Manifest, adapter: ManifestAdapter): Manifest {
  const rest = withoutAdapter(manifest, adapter.repo);
  return { ...rest, adapters: [...rest.adapters, adapter] };
}

export function withoutAdapter(manifest: Manifest, repo: string): Manifest {
  return { ...manifest, adapters: manifest.adapters.filter((adapter) => adapter.repo !== repo) };
}

/** Makes the alias, if given, a name of this model. */
export function withAlias(manifest: Manifest, alias: string | undefined, id: string): Manifest {
  return alias === undefined ? manifest : { ...manifest, aliases: { ...manifest.aliases, [alias]: id } };
}

/** Removes the alias. */
export function withoutAlias(manifest: Manifest, alias: string): Manifest {
  const { [alias]: _forgotten, ...aliases } = manifest.aliases;
  return { ...manifest, aliases };
}

/** Removes the model and its aliases. */
export function withoutModel(manifest: Manifest, id: string): Manifest {
  const { [id]: _forgotten, ...lastUsed } = manifest.lastUsed;
  const aliases = Object.fromEntries(Object.entries(manifest.aliases).filter(([, target]) => target !== id));
  return { ...manifest, models: manifest.models.filter((model) => model.id !== id), aliases, lastUsed };
}

async function readTextIfPresent(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}
