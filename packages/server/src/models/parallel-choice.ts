// How many requests each model computes at the same time, where that is changed while models are in memory: it holds for the
// loads that come after. Remembers with which each was loaded. Used by desktop-app.ts.
import type { KnownModel, ModelSource } from "./known-model.ts";

export class ParallelChoice {
  /** Undefined is as usual. */
  current: number | undefined;
  readonly #loadedWith = new Map<string, number | undefined>();

  /** The same models; their loads are noted. */
  noted(source: ModelSource): ModelSource {
    return { known: async () => (await source.known()).map((known) => this.#noted(known)) };
  }

  /** Whether it was loaded with another choice than the current one. */
  isOutdated(id: string): boolean {
    return this.#loadedWith.has(id) && this.#loadedWith.get(id) !== this.current;
  }

  #noted(known: KnownModel): KnownModel {
    return {
      ...known,
      prepare: async (order) => {
        this.#loadedWith.set(known.id, this.current);
        return await known.prepare(order);
      },
    };
  }
}
