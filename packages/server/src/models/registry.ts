// The models in the house and those that could be: which one a request means, that it is loaded once and only while
// there is room, and that nobody loses it while using it. Each has a slot (model-slot.ts); room.ts says who has to leave.
// Made by serve.ts, filled by the command line, read by the routes.
import { addMemory, type MemoryBytes, type Model } from "@ingle/engine";
import type { ModelEntry } from "@ingle/protocol";
import { variants, type OnLoading, type VariantName } from "../variants.ts";
import { sumOfStats, type EngineStats } from "./slot/engine-stats.ts";
import type { KnownModel, ModelLoader, ModelSource } from "./catalog/known-model.ts";
import type { LoadSettings } from "./slot/load-settings.ts";
import { ModelSlot, type Lease } from "./slot/model-slot.ts";
import { progressOf, takesMemory, type ModelStateKind } from "./slot/model-state.ts";
import { readinessOf, type ServerReadiness } from "./readiness.ts";
import { modelLoading, modelNotFound, shuttingDown } from "./model-errors.ts";
import { MemoryPlanner } from "./eviction/memory-planner.ts";
import { orAborted } from "../or-aborted.ts";
import type { MemoryLimits } from "./eviction/eviction-plan.ts";
import { ModelCatalog } from "./catalog/model-catalog.ts";

export type { ModelLoader } from "./catalog/known-model.ts";
export type { Lease } from "./slot/model-slot.ts";

export interface RegistryOptions extends MemoryLimits {
  /** Requests that may wait for a model beside those that it computes. */
  waitingMax: number;
  /** A model without requests for this long is freed until the next one. Default: never. */
  idleUnloadMs?: number | undefined;
  /** Ids of models that are not freed once they are loaded, but for an order. */
  pinned?: readonly string[];
  /** What becomes of requests for a model that is not loaded yet. Default `reject-at-start`. */
  onLoading?: OnLoading;
  /** Models beside those that were added one by one. Default: none. */
  source?: ModelSource | undefined;
  /** The source could not be asked; what it has said before holds. */
  onSourceFailure?: ((error: unknown) => void) | undefined;
  now?: () => Date;
}

export interface LoadOptions {
  alias?: string | undefined;
  /** Of a model that is known already. */
  settings?: LoadSettings | undefined;
  signal?: AbortSignal | undefined;
}

/** Who wants to know which models are in memory. */
export interface ModelWatcher {
  loaded(id: string, model: Model): void;
  /** It is about to be freed. Also told of models whose load was given up. */
  freed(id: string): void;
}

export class ModelRegistry implements AsyncDisposable {
  readonly #options: RegistryOptions;
  readonly #abort = new AbortController();
  readonly #planner: MemoryPlanner;
  readonly #catalog: ModelCatalog;
  #stamp = 0;
  #watcher: ModelWatcher | undefined;
  #disposal: Promise<void> | undefined;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#planner = new MemoryPlanner(options);
    this.#catalog = new ModelCatalog({
      source: options.source,
      onSourceFailure: options.onSourceFailure,
      now: () => this.#now(),
      makeSlot: (known) => this.#makeSlot(known),
    });
  }

  /** Every model that is known, loaded or not. */
  get slots(): readonly ModelSlot[] {
    return this.#catalog.slots;
  }

  /** What all models may take together, and how many of them there may be. */
  get limits(): MemoryLimits {
    return this.#options;
  }

  readiness(): ServerReadiness {
    return this.#abort.signal.aborted ? { status: "shutting_down", isReady: false } : readinessOf(this.slots);
  }

  /** What the models in memory take, as far as it is known. */
  memoryUsed(): MemoryBytes {
    return addMemory(...this.slots.filter(({ state }) => takesMemory(state)).map(({ byMemory }) => byMemory));
  }

  /** How all engines are now, and what those of this registry's life have done. */
  stats(): EngineStats {
    return sumOfStats(this.slots.map((slot) => slot.stats()));
  }

  /** Tells of the models that are loaded from now on. One at a time. */
  watch(watcher: ModelWatcher): void {
    this.#watcher = watcher;
  }

  /** Adds a model that requests may name. One of the same id stays. */
  add(known: KnownModel): ModelSlot {
    return this.#catalog.add(known);
  }

  /**
   * Loads a model, once however many ask for it. A `loader` adds it under that id, and under `alias`, where it is not known
   * yet. `settings` hold for this load and those after it, until unload(). Throws what loading throws, `model_not_found`,
   * `invalid_request` where it is loaded with other settings, `shutting_down` after disposal, or the signal's reason.
   */
  async load(
    id: string,
    loader?: ModelLoader,
    { alias, settings, signal }: LoadOptions = {},
  ): Promise<Model> {
    this.#assertOpen();
    if (loader !== undefined) this.add(plainModel(id, loader, alias));
    const slot = await this.known(id);
    return await slot.want(signal, settings);
  }

  /**
   * Frees a model as soon as nobody uses it; requests for it then load it again, with its usual settings. Throws
   * `model_not_found`.
   */
  async unload(id: string, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    this.#assertOpen();
    const slot = await this.known(id);
    const until = AbortSignal.any([this.#abort.signal, ...(signal === undefined ? [] : [signal])]);
    const { unloads } = slot.counts;
    const isNotFreed = (): boolean => slot.counts.unloads === unloads;
    try {
      slot.dismiss();
      while (isNotFreed() && (takesMemory(slot.state) || slot.state.kind === "preparing")) {
        await this.#planner.nextChange(until);
        // It was on its way, or was kept. One that is leaving may have the next order already.
        if (isNotFreed() && slot.state.kind !== "unloading") slot.dismiss();
      }
    } finally {
      slot.keep();
    }
  }

  /**
   * Takes a place and the model, without an id the one that was used last; waits while it is loaded, where that is the
   * rule. Throws `overloaded`, `model_not_found`,
   * `model_loading` (with a time to try again), why loading failed, or the signal's reason.
   */
  async acquire(
    requestedId: string | undefined,
    variant: VariantName,
    { signal, places = 1 }: { signal?: AbortSignal | undefined; places?: number } = {},
  ): Promise<Lease> {
    this.#assertOpen();
    const slot = await this.#meant(requestedId, variant);
    const { id, state } = slot;
    if (state.kind === "loaded" || state.kind === "failed" || this.#waits)
      return await slot.lease({ signal, places });
    void this.#bringUnasked(slot); // never rejects; the next request finds it loaded
    throw modelLoading({ id, progress: progressOf(state) });
  }

  /** Entries of `GET /v1/models`: what can be served now, if need be after loading it. */
  list(): ModelEntry[] {
    const canWait = this.#waits;
    const canLoad = canWait || this.#hasStarted;
    const isServed: Record<ModelStateKind, boolean> = {
      available: canLoad,
      preparing: canWait,
      loading: canWait,
      loaded: true,
      draining: true,
      unloading: true,
      failed: false,
      closed: false,
    };
    return this.slots.filter(({ state }) => isServed[state.kind]).map(({ entry }) => entry);
  }

  /** The entry of an id or an alias. Throws `model_not_found`, or `model_loading` when it will be there soon. */
  describe(name: string): ModelEntry {
    const slot = this.#catalog.named(name);
    const id = slot?.id ?? name;
    const entry = this.list().find((candidate) => candidate.id === id);
    if (entry !== undefined) return entry;
    const state = slot?.state;
    if (state?.kind === "preparing" || state?.kind === "loading")
      throw modelLoading({ id, progress: progressOf(state) });
    throw modelNotFound(id);
  }

  /** The model of this id or alias. Throws `model_not_found`. */
  async known(name: string): Promise<ModelSlot> {
    const slot = await this.#catalog.find(name);
    if (slot === undefined) throw modelNotFound(name);
    return slot;
  }

  /** Asks the source what there is now, unless it was asked a moment ago. `isNeeded`: even then. */
  async refresh(options: { isNeeded?: boolean } = {}): Promise<void> {
    if (!this.#abort.signal.aborted) await this.#catalog.refresh(options);
  }

  /** Takes no new leases, ends loads under way, waits for the leases and frees the models. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal ??= this.#dispose();
    await this.#disposal;
  }

  async #dispose(): Promise<void> {
    this.#abort.abort(shuttingDown());
    await Promise.all(this.slots.map((slot) => slot.close()));
  }

  #now(): Date {
    return this.#options.now?.() ?? new Date();
  }

  #makeSlot(known: KnownModel): ModelSlot {
    const { pinned = [], waitingMax, idleUnloadMs } = this.#options;
    return new ModelSlot(known, {
      isPinned: [known.id, ...(known.aliases ?? [])].some((name) => pinned.includes(name)),
      waitingMax,
      idleUnloadMs,
      now: () => this.#now(),
      stamp: () => (this.#stamp += 1),
      bring: (slot) => this.#bring(slot),
      onChange: () => this.#planner.changed(),
      onLoaded: (model) => this.#watcher?.loaded(known.id, model),
      onFree: () => this.#watcher?.freed(known.id),
    });
  }

  #assertOpen(): void {
    if (this.#abort.signal.aborted) throw shuttingDown();
  }

  /** Whether requests wait for a model that is being loaded. */
  get #waits(): boolean {
    const { onLoading = "reject-at-start" } = this.#options;
    return onLoading === "wait" || (onLoading === "reject-at-start" && this.#hasStarted);
  }

  get #hasStarted(): boolean {
    return this.slots.some(({ counts }) => counts.loads > 0);
  }

  /** The model that a request means. Throws `model_not_found`. */
  async #meant(requestedId: string | undefined, variant: VariantName): Promise<ModelSlot> {
    const named = requestedId === undefined ? undefined : await this.#catalog.find(requestedId);
    if (named !== undefined) return named;
    const acceptsAny = requestedId === undefined || variants[variant].modelRule === "any";
    const usual = acceptsAny ? this.#usual() : undefined;
    if (usual === undefined) throw modelNotFound(requestedId);
    return usual;
  }

  /** The model that any name means: the one that was used last, else the first. */
  #usual(): ModelSlot | undefined {
    const [first, ...others] = this.slots;
    return others.reduce(
      (best, each) => (best !== undefined && each.usedAt > best.usedAt ? each : best),
      first,
    );
  }

  /** Gets a model that somebody waits for into memory. Never rejects: those who wait are told. */
  async #bring(slot: ModelSlot): Promise<void> {
    try {
      const signal = AbortSignal.any([slot.startPreparing(), this.#abort.signal]);
      const { budget } = this.#options;
      const { known, ordered: settings } = slot;
      const prepared = await orAborted(known.prepare({ budget, settings, signal }), signal);
      using _turn = await this.#planner.enter(prepared.byMemory, () => this.slots, signal);
      await slot.load(prepared, this.#abort.signal);
    } catch (error) {
      slot.notBrought(error);
    }
  }

  /** For requests that do not wait. */
  async #bringUnasked(slot: ModelSlot): Promise<void> {
    if (slot.state.kind !== "available") return;
    try {
      await slot.want(this.#abort.signal);
    } catch {
      // The slot has kept why, and tells it to the next request.
    }
  }
}

function plainModel(id: string, load: ModelLoader, alias: string | undefined): KnownModel {
  return {
    id,
    aliases: alias === undefined ? [] : [alias],
    prepare: async () => ({ byMemory: {}, load }),
  };
}
