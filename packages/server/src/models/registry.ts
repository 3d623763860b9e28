// The models of the server: finds the one for a request, loads it once however many requests need it, evicts others for it, and
// keeps it while it is in use. The catalog knows all models, each has a slot, and the planner gives them memory.
import {
  addMemory,
  remainingBudget,
  type EngineCrash,
  type MemoryBudget,
  type MemoryBytes,
  type Model,
} from "@ingle/engine";
import type { ModelEntry, ReplyDefaults } from "@ingle/protocol";
import { mayUseAll, type MayUse } from "../access/rights.ts";
import { adapterNotFound, DefaultAdapters, listEntries, splitVariantId } from "./adapters.ts";
import { mergeReplies } from "./settings/merge-settings.ts";
import type { ModelSettingsStore } from "./settings/model-settings-store.ts";
import { settledModel } from "./settings/settled-model.ts";
import { variants, type OnLoading, type VariantName } from "../variants.ts";
import { addStats, type EngineStats } from "./slot/slot-engine.ts";
import type { KnownModel, ModelLoader, ModelSource } from "./catalog/known-model.ts";
import type { LoadSettings } from "./slot/load-settings.ts";
import { ModelSlot } from "./slot/model-slot.ts";
import { type Lease } from "./slot/slot-interface.ts";
import { loadProgress, takesMemory, type ModelStateKind } from "./slot/model-state.ts";
import { decideReadiness, type ServerReadiness } from "./readiness.ts";
import { modelLoading, modelNotFound, shuttingDown } from "./model-errors.ts";
import { MemoryPlanner } from "./eviction/memory-planner.ts";
import type { MemoryLimits } from "./eviction/eviction-plan.ts";
import { ModelCatalog } from "./catalog/model-catalog.ts";

export type { ModelLoader } from "./catalog/known-model.ts";

export interface RegistryOptions extends MemoryLimits {
  /** How many requests may wait for a model in addition to those that run on it. */
  waitingMax: number;
  /** A model without requests for this long is freed until the next one. Default: never. */
  idleUnloadMs?: number | undefined;
  /** Ids of models that are never evicted, only unloaded by a management request. */
  pinned?: readonly string[];
  /** What happens to requests for a model that is not loaded. Default: `reject-at-start`. */
  onLoading?: OnLoading;
  /** Further models, beside those that were added one by one. Default: none. */
  source?: ModelSource | undefined;
  /** Called when the source fails; its models of the last refresh stay. */
  onSourceFailure?: ((error: unknown) => void) | undefined;
  /** Called when the process of a model's engine has crashed; it starts again by itself. */
  onCrash?: ((id: string, crash: EngineCrash) => void) | undefined;
  /** The settings that stay with models. Default: none. */
  modelSettings?: ModelSettingsStore | undefined;
  now?: () => Date;
}

export interface LoadOptions {
  alias?: string | undefined;
  /** How to load it. Only for a model that is already known. */
  settings?: LoadSettings | undefined;
  signal?: AbortSignal | undefined;
}

/** Is notified which models are in memory. */
interface ModelWatcher {
  loaded(id: string, model: Model): void;
  /** Called right before a model is freed, even after an abandoned load. */
  freed(id: string): void;
}

export class ModelRegistry implements AsyncDisposable {
  readonly defaultAdapters = new DefaultAdapters();
  readonly #options: RegistryOptions;
  readonly #abort = new AbortController();
  readonly #planner: MemoryPlanner;
  readonly #catalog: ModelCatalog;
  #uses = 0;
  #watcher: ModelWatcher | undefined;
  #disposal: Promise<void> | undefined;

  constructor(options: RegistryOptions) {
    const { modelSettings } = options;
    this.#options = options;
    this.#planner = new MemoryPlanner(options, () => this.slots);
    this.#catalog = new ModelCatalog({
      source: options.source,
      onSourceFailure: options.onSourceFailure,
      now: () => this.#now(),
      settle: modelSettings === undefined ? undefined : (known) => settledModel(known, modelSettings),
      makeSlot: (known) => this.#makeSlot(known),
    });
    modelSettings?.onChange(() => {
      for (const slot of this.slots) slot.followSettings();
    });
  }

  /** The slots of all known models, loaded or not. */
  get slots(): readonly ModelSlot[] {
    return this.#catalog.slots;
  }

  /** How much memory all models together may take, and how many may be loaded. */
  get limits(): MemoryLimits {
    return this.#options;
  }

  readiness(): ServerReadiness {
    return this.#abort.signal.aborted
      ? { status: "shutting_down", isReady: false }
      : decideReadiness(this.slots);
  }

  /** The memory that the loaded models take, as far as known. */
  memoryUsed(): MemoryBytes {
    return this.#planner.used();
  }

  /**
   * The memory that a model's context for embeddings may take: what everything else leaves of the budget. Undefined: no limit.
   */
  embeddingBudget(id: string): MemoryBudget | undefined {
    const { budget } = this.#options;
    if (budget === undefined) return undefined;
    const beside = this.slots
      .filter(({ state }) => takesMemory(state))
      .map((slot) => (slot.id === id ? slot.memory.planned : slot.byMemory));
    return remainingBudget(budget, addMemory(...beside));
  }

  /**
   * Evicts other models until this one has memory for a context for embeddings, and reserves it. Waits as loading does, so the
   * caller must not hold a lease. Undefined if there is no space beside the pinned models. Throws the signal's reason.
   */
  async reserveForEmbeddings(
    id: string,
    needed: MemoryBytes,
    signal: AbortSignal,
  ): Promise<Disposable | undefined> {
    const slot = await this.known(id);
    using turn = await this.#planner.reserve(() => addMemory(slot.memory.planned, needed), signal, slot);
    return turn === undefined ? undefined : slot.memory.reserve(needed);
  }

  /** The part of the budget that the other models in memory leave to this one; undefined if none has to be spared. */
  leftFor(slot: ModelSlot): MemoryBudget | undefined {
    return this.#planner.leftFor(slot);
  }

  /** Current gauges of all engines, and counters since this registry was created. */
  stats(): EngineStats {
    return addStats(this.slots.map((slot) => slot.stats()));
  }

  /** Notifies the watcher of models that are loaded from now on. Replaces the previous watcher. */
  watch(watcher: ModelWatcher): void {
    this.#watcher = watcher;
  }

  /** Adds a model, unless there is one with the same id. */
  add(known: KnownModel): ModelSlot {
    return this.#catalog.add(known);
  }

  /**
   * Loads a model, once however many callers ask for it. A `loader` adds an unknown model under this id and `alias`.
   * `settings` apply to this load and later ones, until unload(). Throws what loading throws, `model_not_found`,
   * `invalid_request` if it is loaded with other settings, `shutting_down` after disposal, or the signal's reason.
   */
  async load(
    id: string,
    loader?: ModelLoader,
    { alias, settings, signal }: LoadOptions = {},
  ): Promise<Model> {
    this.#assertOpen();
    if (loader !== undefined) this.add(plainModel(id, loader, alias));
    const slot = await this.known(id);
    return await slot.ensureLoaded(signal, settings);
  }

  /**
   * Frees a model once it is not in use; the next request loads it again with its usual settings. Throws `model_not_found`.
   */
  async unload(id: string, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    this.#assertOpen();
    const slot = await this.known(id);
    const until = AbortSignal.any([this.#abort.signal, ...(signal === undefined ? [] : [signal])]);
    const { unloads } = slot.counts;
    const isNotFreed = (): boolean => slot.counts.unloads === unloads;
    try {
      slot.unload();
      while (isNotFreed() && (takesMemory(slot.state) || slot.state.kind === "preparing")) {
        await this.#planner.nextChange(until);
        // It was loading, or an eviction was cancelled. A model that is being freed may already have a new request to load.
        if (isNotFreed() && slot.state.kind !== "unloading") slot.unload();
      }
    } finally {
      slot.keep();
    }
  }

  /**
   * Leases a model, with the adapter if the id names one; without an id, the one that was used last. Depending on `onLoading`, waits
   * while it loads. Throws `overloaded`, `model_not_found`, `model_loading` (with a time to try again), the reason of a failed load, or
   * the signal's reason.
   */
  async acquire(
    requestedId: string | undefined,
    variant: VariantName,
    {
      signal,
      places = 1,
      mayUse = mayUseAll,
      isBackground = false,
    }: { signal?: AbortSignal | undefined; places?: number; mayUse?: MayUse; isBackground?: boolean } = {},
  ): Promise<Lease> {
    this.#assertOpen();
    const { slot, adapter, profile } = await this.#resolve(requestedId, variant, mayUse);
    const { id, state } = slot;
    if (state.kind === "loaded" || state.kind === "failed" || this.#waits) {
      const lease = await slot.lease({ signal, places, isBackground });
      const defaults = replyDefaults(slot, profile);
      return { ...lease, adapter, profile, defaults, defaultAdapters: this.defaultAdapters.of(lease.model) };
    }
    void this.#loadInBackground(slot); // never rejects; the next request finds it loaded
    throw modelLoading({ id, progress: loadProgress(state) });
  }

  /** The entries of `GET /v1/models`: models that can be used now, if necessary after loading them. */
  list(mayUse = mayUseAll): ModelEntry[] {
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
    return this.slots.filter((slot) => isServed[slot.state.kind] && mayUse(slot)).flatMap(listEntries);
  }

  /** The entry of a model by id or alias. Throws `model_not_found`, or `model_loading` while it loads. */
  describe(name: string, mayUse = mayUseAll): ModelEntry {
    const named = this.#catalog.named(name);
    const slot = named !== undefined && mayUse(named) ? named : undefined;
    const id = slot?.id ?? name;
    const entry = this.list(mayUse).find((candidate) => candidate.id === id);
    if (entry !== undefined) return entry;
    const state = slot?.state;
    if (state?.kind === "preparing" || state?.kind === "loading")
      throw modelLoading({ id, progress: loadProgress(state) });
    throw modelNotFound(id);
  }

  /** The slot of a model by id or alias, if there is one. */
  async find(name: string, mayUse = mayUseAll): Promise<ModelSlot | undefined> {
    const slot = await this.#catalog.find(name);
    return slot !== undefined && mayUse(slot) ? slot : undefined;
  }

  /** The slot of a model by id or alias. Throws `model_not_found`. */
  async known(name: string, mayUse = mayUseAll): Promise<ModelSlot> {
    const slot = await this.find(name, mayUse);
    if (slot === undefined) throw modelNotFound(name);
    return slot;
  }

  /** Reads the source again, unless that was just done. `isNeeded`: always. */
  async refresh(options: { isNeeded?: boolean } = {}): Promise<void> {
    if (!this.#abort.signal.aborted) await this.#catalog.refresh(options);
  }

  /** Grants no new leases, aborts loads, waits until all leases are disposed, and frees the models. Idempotent. */
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
      nextUse: () => (this.#uses += 1),
      planner: this.#planner,
      closing: this.#abort.signal,
      onLoaded: (model) => this.#watcher?.loaded(known.id, model),
      onCrash: (crash) => this.#options.onCrash?.(known.id, crash),
      onFree: () => this.#watcher?.freed(known.id),
    });
  }

  #assertOpen(): void {
    if (this.#abort.signal.aborted) throw shuttingDown();
  }

  /** Whether requests wait for a model to be loaded. */
  get #waits(): boolean {
    const { onLoading = "reject-at-start" } = this.#options;
    return onLoading === "wait" || (onLoading === "reject-at-start" && this.#hasStarted);
  }

  get #hasStarted(): boolean {
    return this.slots.some(({ counts }) => counts.loads > 0);
  }

  /** The model for a request, and the adapter or profile that the id names. Throws `model_not_found`. */
  async #resolve(
    requestedId: string | undefined,
    variant: VariantName,
    mayUse: MayUse,
  ): Promise<{ slot: ModelSlot; adapter?: string; profile?: string }> {
    const named = requestedId === undefined ? undefined : await this.find(requestedId, mayUse);
    if (named !== undefined) return { slot: named };
    const found = await this.#findVariant(requestedId, mayUse);
    if (found !== undefined) return found;
    const acceptsAny = requestedId === undefined || variants[variant].modelRule === "any";
    const lastUsed = acceptsAny ? this.#lastUsed(mayUse) : undefined;
    if (lastUsed === undefined) throw modelNotFound(requestedId);
    return { slot: lastUsed };
  }

  /** Throws `model_not_found` if the model has other adapters only. */
  async #findVariant(
    id = "",
    mayUse: MayUse,
  ): Promise<{ slot: ModelSlot; adapter?: string; profile?: string } | undefined> {
    const names = splitVariantId(id);
    const slot = names === undefined ? undefined : await this.find(names.model, mayUse);
    if (names === undefined || slot === undefined) return undefined;
    const { name } = names;
    if (slot.profiles.includes(name)) return { slot, profile: name };
    if (slot.adapters.length === 0) return undefined;
    if (!slot.adapters.includes(name)) throw adapterNotFound(slot, name);
    return { slot, adapter: name };
  }

  /** The model that was used last, else the first. */
  #lastUsed(mayUse: MayUse): ModelSlot | undefined {
    const [first, ...others] = this.slots.filter(mayUse);
    return others.reduce(
      (best, each) => (best !== undefined && each.lastUse > best.lastUse ? each : best),
      first,
    );
  }

  /** Loads a model for requests that do not wait for it. Never rejects. */
  async #loadInBackground(slot: ModelSlot): Promise<void> {
    if (slot.state.kind !== "available") return;
    try {
      await slot.ensureLoaded();
    } catch {
      // The slot keeps the reason for the next request.
    }
  }
}

/** The defaults of requests to a model, or to one of its profiles. */
function replyDefaults(
  { known: { replies }, settings }: ModelSlot,
  profile: string | undefined,
): ReplyDefaults {
  const ofModel = mergeReplies(replies?.defaults ?? {}, { sampling: settings.sampling });
  return profile === undefined ? ofModel : mergeReplies(ofModel, replies?.profiles[profile] ?? {});
}

function plainModel(id: string, load: ModelLoader, alias: string | undefined): KnownModel {
  return {
    id,
    aliases: alias === undefined ? [] : [alias],
    prepare: async () => ({ byMemory: {}, load }),
  };
}
