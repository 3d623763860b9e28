// The models that the app's `/v1` server starts with, and how many requests each computes at the same time. That number may
// change while models are in memory: it applies to the loads that follow.
import type { ServerSettings } from "@ingle/protocol";
import type { KnownModel, ModelSource } from "../models/catalog/known-model.ts";
import { loadError } from "../models/model-errors.ts";
import type { ModelRegistry } from "../models/registry.ts";
import { isInMemory } from "../models/slot/model-state.ts";

export class ParallelChoice {
  /** Undefined: the usual number. */
  current: number | undefined;
  readonly #loadedWith = new Map<string, number | undefined>();

  /** Returns the same models, and records with which number each is loaded. */
  noted(source: ModelSource): ModelSource {
    return { known: async () => (await source.known()).map((known) => this.#noted(known)) };
  }

  /** Whether a model was loaded with another number than the current one. */
  isOutdated(id: string): boolean {
    return this.#loadedWith.has(id) && this.#loadedWith.get(id) !== this.current;
  }

  #noted(known: KnownModel): KnownModel {
    return {
      ...known,
      prepare: async (options) => {
        this.#loadedWith.set(known.id, this.current);
        return await known.prepare(options);
      },
    };
  }
}

/** Loads the models that the server starts with, and reloads those that compute another number of requests at once. */
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
