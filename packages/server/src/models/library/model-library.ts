// The model library as the management API uses it: the engine's functions with the environment of the command line.
import {
  addAlias,
  defaultModel,
  describeRepository,
  EngineError,
  fetchModel,
  importModels,
  listModels,
  locateModel,
  parseModelSpec,
  quantizeModel,
  registerModel,
  removeAlias,
  removeModel,
  searchModels,
  type DefaultModel,
  type HubSearchResult,
  type LibraryOptions,
  type LibraryProgress,
  type OfferedRepository,
  type QuantizeProgress,
  type Removal,
} from "@ingle/engine";
import { WireError } from "../../wire-error.ts";

export interface ModelLibrary {
  /** Downloads a model if it is not installed. Resolves with its id; `onProgress` gets the id as soon as it is known. */
  pull(
    model: string,
    options: { signal: AbortSignal; onProgress: (id: string, progress: LibraryProgress) => void },
  ): Promise<string>;
  /** Adds a file or folder of this machine without moving it. Resolves with the ids of its models. */
  importPath(
    path: string,
    options: { signal: AbortSignal; onProgress: (progress: LibraryProgress) => void },
  ): Promise<string[]>;
  /** Quantizes an installed model. Resolves with the new model's id, or its path if it cannot be listed. */
  quantize(
    model: string,
    options: { to: string; signal: AbortSignal; onProgress: (progress: QuantizeProgress) => void },
  ): Promise<string>;
  search(
    words: string,
    options: { limit?: number | undefined; signal: AbortSignal },
  ): Promise<HubSearchResult[]>;
  describe(repo: string, options: { signal: AbortSignal }): Promise<OfferedRepository>;
  /** The model that is used when none is named. Downloads nothing. */
  recommended(options: { signal: AbortSignal }): Promise<DefaultModel>;
  /** Both resolve with the alias's model and its aliases after the change. */
  alias(alias: string, model: string, options: { signal: AbortSignal }): Promise<NamedModel>;
  unalias(alias: string, options: { signal: AbortSignal }): Promise<NamedModel>;
  remove(model: string, options: { signal: AbortSignal }): Promise<Removal>;
}

export interface NamedModel {
  id: string;
  aliases: readonly string[];
}

/** The library of this machine. Its functions throw what the engine's throw. */
export function modelLibrary(environment: Pick<LibraryOptions, "env" | "isOffline">): ModelLibrary {
  const named = async (id: string): Promise<NamedModel> => {
    const models = await listModels(environment);
    return { id, aliases: models.find((model) => model.id === id)?.aliases ?? [] };
  };
  return {
    pull: async (model, { signal, onProgress }) => {
      refusePath(model);
      const located = await locateModel(model, { ...environment, signal });
      await fetchModel(located, {
        ...environment,
        signal,
        adapter: {},
        onProgress: (progress) => onProgress(located.id, progress),
      });
      return located.id;
    },
    importPath: async (path, options) => {
      const models = await importModels(path, { ...environment, ...options });
      return models.map(({ id }) => id);
    },
    quantize: async (model, options) => {
      refusePath(model);
      const { signal } = options;
      // A model that is not installed is an error: quantizing does not download.
      const located = await locateModel(model, { ...environment, isOffline: true, signal });
      const file = await fetchModel(located, { ...environment, isOffline: true, signal });
      const { path } = await quantizeModel(file, { ...environment, ...options });
      return (
        (await registerQuantized(path, { ...environment, signal }, { EngineError, registerModel })) ?? path
      );
    },
    search: async (words, options) => await searchModels(words, { ...environment, ...options }),
    describe: async (repo, options) => await describeRepository(repo, { ...environment, ...options }),
    recommended: async (options) => await defaultModel({ ...environment, ...options }),
    alias: async (alias, model, options) =>
      await named(await addAlias(alias, model, { ...environment, ...options })),
    unalias: async (alias, options) => await named(await removeAlias(alias, { ...environment, ...options })),
    remove: async (model, options) => await removeModel(model, { ...environment, ...options }),
  };
}

/** HTTP clients must not probe this machine's disk, or have a folder of it converted. */
export function refusePath(model: string, param = "model"): void {
  if (parseModelSpec(model).kind !== "file") return;
  const message = `${model} is a path. \`ingle import\` takes one, on the machine where it is.`;
  throw new WireError("invalid_request", message, { param });
}

/** The id belongs to another file, or the library cannot be written. */
const tolerated: ReadonlySet<string> = new Set(["invalid_request", "download_failed", "disk_full"]);

/** Adds a quantized file to the library. Returns the new model's id; undefined if the library cannot take it, which leaves the file usable. Throws other errors. */
export async function registerQuantized(
  path: string,
  options: LibraryOptions,
  engine: Pick<typeof import("@ingle/engine"), "EngineError" | "registerModel">,
): Promise<string | undefined> {
  try {
    return (await engine.registerModel(path, options)).id;
  } catch (error) {
    if (engine.EngineError.is(error) && tolerated.has(error.code)) return undefined;
    throw error;
  }
}
