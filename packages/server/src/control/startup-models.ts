// The models that the app's `/v1` server loads at its start, and how many requests each computes in parallel. That number may
// change while models are in memory; it applies to later loads.
import type { ServerSettings } from "@ingle/protocol";
import type { KnownModel, ModelSource } from "../models/catalog/known-model.ts";
import { loadError } from "../models/model-errors.ts";
import type { ModelRegistry } from "../models/registry.ts";
import { isInMemory } from "../models/slot/model-state.ts";

export class ParallelChoice {
  /** Undefined: the default number. */
  current: number | undefined;
  readonly #loadedWith = new Map<string, number | undefined>();

  /** Wraps the source to record the number with which each model is loaded. */
  recorded(source: ModelSource): ModelSource {
    return { known: async () => (await source.known()).map((known) => this.#recorded(known)) };
  }

  /** Whether the model was loaded with a number other than the current one. */
  isOutdated(id: string): boolean {
    return this.#loadedWith.has(id) && this.#loadedWith.get(id) !== this.current;
  }

  #recorded(known: KnownModel): KnownModel {
    return {
      ...known,
      prepare: async (options) => {
        this.#loadedWith.set(known.id, this.current);
        return await known.prepare(options);
      },
    };
  }
}

/** Loads the startup models, and reloads models that were loaded for another number of parallel requests. */
export async function loadStartupModels(
  { parallel: asked, models }: ServerSettings,
  { registry, parallel, signal }: { registry: ModelRegistry; parallel: ParallelChoice; signal: AbortSignal },
): Promise<void> {
  parallel.current = asked ?? undefined;
  await registry.refresh({ isNeeded: true });
  for (const slot of registry.slots) {
    if (!isInMemory(slot.state) || !parallel.isOutdated(slot.id)) continue;
    const { id, requestedSettings: settings } = slot;
    await registry.unload(id, { signal });
    await loadOne(id, () => registry.load(id, undefined, { settings, signal }));
  }
  for (const id of models) await loadOne(id, () => registry.load(id, undefined, { signal }));
}

async function loadOne(id: string, load: () => Promise<unknown>): Promise<void> {
  try {
    await load();
  } catch (error) {
    throw loadError(id, error);
  }
}
