// What the server's management asks of the library of models: the engine's functions, with the surroundings that the
// command line read. Used by routes/library.ts; tests hand in a library of their own.
import {
  fetchModel,
  locateModel,
  removeModel,
  searchModels,
  type HubSearchResult,
  type LibraryOptions,
  type LibraryProgress,
  type Removal,
} from "@ingle/engine";

export interface ModelLibrary {
  /** Fetches a model that is not there. Resolves with its id; `onProgress` is called with the id as soon as it is known. */
  pull(
    model: string,
    options: { signal: AbortSignal; onProgress: (id: string, progress: LibraryProgress) => void },
  ): Promise<string>;
  search(
    words: string,
    options: { limit?: number | undefined; signal: AbortSignal },
  ): Promise<HubSearchResult[]>;
  remove(model: string, options: { signal: AbortSignal }): Promise<Removal>;
}

/** The library of this machine. Throws what its functions throw. */
export function modelLibrary(surroundings: Pick<LibraryOptions, "env" | "isOffline">): ModelLibrary {
  return {
    pull: async (model, { signal, onProgress }) => {
      const located = await locateModel(model, { ...surroundings, signal });
      await fetchModel(located, {
        ...surroundings,
        signal,
        onProgress: (progress) => onProgress(located.id, progress),
      });
      return located.id;
    },
    search: async (words, options) => await searchModels(words, { ...surroundings, ...options }),
    remove: async (model, options) => await removeModel(model, { ...surroundings, ...options }),
  };
}
