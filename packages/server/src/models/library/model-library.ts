// What the server's management asks of the library of models: the engine's functions, with the surroundings that the
// command line read. Used by routes/library.ts; tests hand in a library of their own.
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
import { registerQuantized } from "./register-quantized.ts";

export interface ModelLibrary {
  /** Fetches a model that is not there. Resolves with its id; `onProgress` is called with the id as soon as it is known. */
  pull(
    model: string,
    options: { signal: AbortSignal; onProgress: (id: string, progress: LibraryProgress) => void },
  ): Promise<string>;
  /** Makes a file or a folder of this machine known where it lies. Resolves with the ids of its models. */
  importPath(
    path: string,
    options: { signal: AbortSignal; onProgress: (progress: LibraryProgress) => void },
  ): Promise<string[]>;
  /** Writes an installed model with fewer bits for each weight. Resolves with the id of that, or its path where it cannot be listed. */
  quantize(
    model: string,
    options: { to: string; signal: AbortSignal; onProgress: (progress: QuantizeProgress) => void },
  ): Promise<string>;
  search(
    words: string,
    options: { limit?: number | undefined; signal: AbortSignal },
  ): Promise<HubSearchResult[]>;
  describe(repo: string, options: { signal: AbortSignal }): Promise<OfferedRepository>;
  /** The model that is taken where nobody named one. It fetches nothing. */
  recommended(options: { signal: AbortSignal }): Promise<DefaultModel>;
  /** Both resolve with the model that had or has the name, and all names that it has then. */
  alias(alias: string, model: string, options: { signal: AbortSignal }): Promise<NamedModel>;
  unalias(alias: string, options: { signal: AbortSignal }): Promise<NamedModel>;
  remove(model: string, options: { signal: AbortSignal }): Promise<Removal>;
}

export interface NamedModel {
  id: string;
  aliases: readonly string[];
}

/** The library of this machine. Throws what its functions throw. */
export function modelLibrary(surroundings: Pick<LibraryOptions, "env" | "isOffline">): ModelLibrary {
  const named = async (id: string): Promise<NamedModel> => {
    const models = await listModels(surroundings);
    return { id, aliases: models.find((model) => model.id === id)?.aliases ?? [] };
  };
  return {
    pull: async (model, { signal, onProgress }) => {
      refusePath(model);
      const located = await locateModel(model, { ...surroundings, signal });
      await fetchModel(located, {
        ...surroundings,
        signal,
        onProgress: (progress) => onProgress(located.id, progress),
      });
      return located.id;
    },
    importPath: async (path, options) => {
      const models = await importModels(path, { ...surroundings, ...options });
      return models.map(({ id }) => id);
    },
    quantize: async (model, options) => {
      refusePath(model);
      const { signal } = options;
      // It is there, or it is an error: nobody waits for a download here.
      const located = await locateModel(model, { ...surroundings, isOffline: true, signal });
      const file = await fetchModel(located, { ...surroundings, isOffline: true, signal });
      const { path } = await quantizeModel(file, { ...surroundings, ...options });
      return (
        (await registerQuantized(path, { ...surroundings, signal }, { EngineError, registerModel })) ?? path
      );
    },
    search: async (words, options) => await searchModels(words, { ...surroundings, ...options }),
    describe: async (repo, options) => await describeRepository(repo, { ...surroundings, ...options }),
    recommended: async (options) => await defaultModel({ ...surroundings, ...options }),
    alias: async (alias, model, options) =>
      await named(await addAlias(alias, model, { ...surroundings, ...options })),
    unalias: async (alias, options) => await named(await removeAlias(alias, { ...surroundings, ...options })),
    remove: async (model, options) => await removeModel(model, { ...surroundings, ...options }),
  };
}

/** Nobody looks around on this machine's disk, or has a folder of it converted, by asking over HTTP. */
function refusePath(model: string): void {
  if (parseModelSpec(model).kind !== "file") return;
  const message = `${model} is a path. \`ingle import\` takes one, on the machine where it is.`;
  throw new WireError("invalid_request", message, { param: "model" });
}
