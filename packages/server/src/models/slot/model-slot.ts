// One model in the house: its state (model-state.ts), the leases that are held and those that wait for it, and what its
// engines have done. It loads once however many wait, and is never freed while a lease is held. Kept by registry.ts.
import type { LoadedModel, MemoryBytes, Model } from "@ingle/engine";
import type { ModelEntry } from "@ingle/protocol";
import { Admission } from "../admission.ts";
import { EngineHistory, type EngineStats } from "./engine-stats.ts";
import type { KnownModel, PreparedModel } from "../catalog/known-model.ts";
import { agree, settingsOver, type LoadSettings } from "./load-settings.ts";
import { ModelProfile } from "../catalog/model-profile.ts";
import { isSettled, moved, type ModelState } from "./model-state.ts";
import { loadedWithOtherSettings, loadFailed, shuttingDown, settingsAreFixed } from "../model-errors.ts";
import { LoadWaiters } from "./load-waiters.ts";

/** A load that failed is not tried again for so long: a thousand clients that retry would do nothing else. */
export const coolDownMs = 10_000;

/** The right to use a model, and a place among those that do; it is not freed before every lease is disposed. */
export interface Lease extends Disposable {
  readonly id: string;
  readonly model: Model;
}

export interface SlotOptions {
  isPinned: boolean;
  /** Requests that may wait beside those that run. */
  waitingMax: number;
  idleUnloadMs?: number | undefined;
  now: () => Date;
  /** Grows with each call: the order in which models were used. */
  stamp: () => number;
  /** Brings the model into memory: somebody waits for it. Never rejects. */
  bring: (slot: ModelSlot) => Promise<void>;
  /** Something has happened that others may wait for. */
  onChange: () => void;
  /** It is in memory, and nobody uses it yet. */
  onLoaded?: (model: Model) => void;
  /** It is about to be freed. */
  onFree?: () => void;
}

export class ModelSlot {
  readonly profile: ModelProfile;
  #isPinned: boolean;
  readonly #options: SlotOptions;
  readonly #history = new EngineHistory();
  readonly #admission: Admission;
  readonly #waiters = new LoadWaiters((reason) => this.#unwanted.abort(reason));
  #state: ModelState = { kind: "available" };
  #loaded: LoadedModel | undefined;
  #byMemory: MemoryBytes = {};
  /** What an order has said of this load or the next one. */
  #ordered: LoadSettings | undefined;
  /** The same of the last load that succeeded: what an order says whose load fails or is given up is not kept. */
  #proven: LoadSettings | undefined;
  /** A worker was lost: the model comes back as soon as it can, also when nobody asks. */
  #isMissed = false;
  #leases = 0;
  #usedAt = 0;
  readonly #counts = { loads: 0, failures: 0, unloads: 0 };
  /** Aborted when nobody waits any more while the model is being prepared. */
  #unwanted = new AbortController();
  #bringing: Promise<void> | undefined;
  #unloading: Promise<void> | undefined;
  /** Of the idle time, or of the cool-down. */
  #timer: NodeJS.Timeout | undefined;
  #onLastLease: (() => void) | undefined;

  constructor(known: KnownModel, options: SlotOptions) {
    this.profile = new ModelProfile(known);
    this.#isPinned = options.isPinned;
    this.#options = options;
    // How many requests it computes at once is known when it is loaded.
    this.#admission = new Admission(options.waitingMax + 1);
  }

  get id(): string {
    return this.known.id;
  }

  get known(): KnownModel {
    return this.profile.known;
  }

  /** The same model, looked at anew: its file may have been fetched again, and got other names. */
  know(known: KnownModel): void {
    this.profile.know(known, { isNews: this.#counts.loads === 0 });
  }

  /** It is freed by an order alone. */
  get isPinned(): boolean {
    return this.#isPinned;
  }

  /** Pins it or takes that back; one that is about to be freed for others stays then. */
  pin(isPinned: boolean): void {
    this.#isPinned = isPinned;
    if (isPinned && this.#state.kind === "loaded") clearTimeout(this.#timer);
    if (isPinned && this.#state.kind === "draining" && !this.#state.isDismissed) this.keep();
    this.#rest();
    this.#options.onChange();
  }

  get state(): ModelState {
    return this.#state;
  }

  /** Leases that are held. */
  get leases(): number {
    return this.#leases;
  }

  /** Requests that wait for the model to be loaded. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** 0 for one that was never used; the larger, the later. */
  get usedAt(): number {
    return this.#usedAt;
  }

  /** How often it was loaded, failed to be, and was freed. */
  get counts(): Readonly<{ loads: number; failures: number; unloads: number }> {
    return this.#counts;
  }

  /** What it takes, or will take when it is loaded. */
  get byMemory(): MemoryBytes {
    return this.#byMemory;
  }

  /** What a token takes of its KV cache, in bytes; undefined while there is none. */
  get kvBytesPerToken(): number | undefined {
    return this.#loaded?.model.info.kvBytesPerToken;
  }

  /** What an order has said of how it is loaded; undefined: nothing. */
  get ordered(): LoadSettings | undefined {
    return this.#ordered;
  }

  /** How it is loaded, or will be: as an order has said, else as is usual. What is not known is absent. */
  get settings(): LoadSettings {
    const asked = settingsOver(this.#ordered, this.known.settings ?? {});
    return settingsOver({ contextLength: this.#loaded?.model.info.contextLength }, asked);
  }

  get entry(): ModelEntry {
    const { kind } = this.#state;
    const { entry } = this.profile;
    if (kind === "loaded" || kind === "draining") return { ...entry, status: "loaded" };
    return { ...entry, status: kind === "preparing" || kind === "loading" ? "loading" : "available" };
  }

  /** How its engine is now, and what all its engines have done. */
  stats(): EngineStats {
    const figures = this.#history.with(this.#loaded?.model.stats());
    return { ...figures, waiting: figures.waiting + this.waiting };
  }

  /** Takes `places` in its line and the model; waits while it is not in memory. Throws why it cannot be had. */
  async lease(options: { signal?: AbortSignal | undefined; places: number }): Promise<Lease> {
    const permit = this.#admission.enter(options);
    try {
      const model = await this.#enter(options.signal);
      let isHeld = true;
      const release = (): void => {
        if (!isHeld) return;
        isHeld = false;
        permit[Symbol.dispose]();
        this.#leave();
      };
      return { id: this.id, model, [Symbol.dispose]: release };
    } catch (error) {
      permit[Symbol.dispose]();
      throw this.#state.kind === "failed" && this.#state.error === error ? this.#failure() : error;
    }
  }

  /** Throws `invalid_request` where these settings cannot hold now: it is loaded with others, or takes none. */
  assertTakes(settings: LoadSettings): void {
    if (this.known.settings === undefined) throw settingsAreFixed(this.id);
    if (isSettled(this.#state) && !agree(settings, this.settings))
      throw loadedWithOtherSettings(this.id, this.settings);
  }

  /**
   * Waits until the model is loaded; an order of the operator's, who need not wait for a cool-down. Its settings hold until
   * dismiss().
   */
  async want(signal?: AbortSignal, settings?: LoadSettings): Promise<Model> {
    signal?.throwIfAborted();
    if (settings !== undefined) this.assertTakes(settings);
    if (settings !== undefined && !isSettled(this.#state)) this.#ordered = settings;
    this.#coolDown();
    const model = await this.#enter(signal);
    this.#leave();
    return model;
  }

  /** The signal is aborted when nobody waits any more. */
  startPreparing(): AbortSignal {
    this.#move({ kind: "preparing" });
    this.#unwanted = new AbortController();
    return this.#unwanted.signal;
  }

  /** Loads what was prepared, and grants the model to all who wait. Throws what the loader throws. */
  async load({ byMemory, traits, load }: PreparedModel, signal: AbortSignal): Promise<void> {
    this.#byMemory = byMemory;
    this.profile.read(traits);
    this.#move({ kind: "loading", progress: 0 });
    const onProgress = (progress: number): void => {
      // A report may come after the end: it changes nothing then.
      if (this.#state.kind === "loading") this.#move({ kind: "loading", progress });
    };
    this.#loaded = await load(onProgress, signal);
    signal.throwIfAborted(); // close() waits for us and frees what came too late
    const { model } = this.#loaded;
    this.#isMissed = false;
    void model.workerLost.then(() => this.#workerLost(model)); // it never rejects
    const loadedAt = this.#options.now();
    this.profile.loaded(model, loadedAt);
    this.#admission.resize(model.info.parallel + this.#options.waitingMax);
    this.#counts.loads += 1;
    this.#proven = this.#ordered;
    this.#move({ kind: "loaded", loadedAt });
    this.#options.onLoaded?.(model);
    this.#grant(model);
    this.#options.onChange();
  }

  /** The model was not brought: because nobody waits any more, or because of `error`. */
  notBrought(error: unknown): void {
    if (this.#state.kind === "closed") return;
    this.#byMemory = {};
    const isGivenUp = this.#state.kind === "preparing" && this.#unwanted.signal.aborted;
    // Who has come since then may want it as it was ordered.
    if (!isGivenUp || this.#waiters.size === 0) this.#ordered = this.#proven;
    if (isGivenUp) {
      this.#move({ kind: "available" });
      this.#bringIfWanted();
    } else {
      this.#counts.failures += 1;
      const until = new Date(this.#options.now().getTime() + coolDownMs);
      this.#move({ kind: "failed", error, until });
      this.#timer = setTimeout(() => this.#coolDown(), coolDownMs).unref();
      this.#waiters.refuse(error);
    }
    this.#options.onChange();
  }

  /** Frees a loaded model as soon as no lease is held. Who asks for it meanwhile waits until it is loaded again. */
  evict(): void {
    const state = this.#state;
    if (state.kind === "loaded") this.#move({ ...state, kind: "draining", isDismissed: false });
    if (this.#state.kind !== "draining" || this.#leases > 0) return;
    if (this.#state.isDismissed) this.#forgetOrder();
    this.#unloading = this.#unload(); // nothing in it fails but a mistake of ours
  }

  #workerLost(model: Model): void {
    if (this.#loaded?.model !== model || this.#state.kind === "closed") return;
    this.#isMissed = true;
    this.evict();
  }

  /** The same by an order: what the one before has said of the settings holds no longer then. */
  dismiss(): void {
    this.#isMissed = false;
    const state = this.#state;
    if (state.kind === "loaded" || state.kind === "draining") {
      this.#move({ kind: "draining", loadedAt: state.loadedAt, isDismissed: true });
      this.evict();
    } else if (!isSettled(state)) this.#forgetOrder();
  }

  /** Takes evict() and dismiss() back, where it is not too late. */
  keep(): void {
    const state = this.#state;
    if (state.kind !== "draining" || this.#loaded === undefined || this.#isMissed) return;
    this.#move({ kind: "loaded", loadedAt: state.loadedAt });
    this.#grant(this.#loaded.model);
    this.#options.onChange();
  }

  /** Grants no more leases, waits for those that are held and frees the model. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#move({ kind: "closed" });
    this.#waiters.refuse(shuttingDown());
    await Promise.allSettled([this.#bringing, this.#unloading]);
    if (this.#leases > 0) await new Promise<void>((resolve) => (this.#onLastLease = resolve));
    await this.#free();
  }

  async #enter(signal: AbortSignal | undefined): Promise<Model> {
    signal?.throwIfAborted();
    const { kind } = this.#state;
    if (kind === "closed") throw shuttingDown();
    if (kind === "failed") throw this.#failure();
    if (kind === "loaded" && this.#loaded !== undefined) {
      this.#hold(1);
      return this.#loaded.model;
    }
    const waiting = this.#waiters.wait(signal);
    this.#bringIfWanted();
    const model = await waiting;
    if (signal?.aborted === true) this.#leave(); // in the moment in which it was granted the model
    signal?.throwIfAborted();
    return model;
  }

  #bringIfWanted(): void {
    if (this.#state.kind === "available" && (this.#waiters.size > 0 || this.#isMissed))
      this.#bringing = this.#options.bring(this);
  }

  /** All who wait hold the model from now on. */
  #grant(model: Model): void {
    this.#hold(this.#waiters.grant(model));
    this.#rest();
  }

  #hold(count: number): void {
    this.#leases += count;
    this.#noteUse();
    if (count > 0) clearTimeout(this.#timer);
  }

  #leave(): void {
    this.#leases -= 1;
    this.#noteUse();
    if (this.#leases > 0) return;
    this.#onLastLease?.();
    if (this.#state.kind === "draining") this.evict();
    this.#rest();
    this.#options.onChange();
  }

  #noteUse(): void {
    this.#usedAt = this.#options.stamp();
    this.profile.used(this.#options.now());
  }

  /** Begins to wait for idleUnloadMs without requests. */
  #rest(): void {
    const { idleUnloadMs } = this.#options;
    if (idleUnloadMs === undefined || this.isPinned) return;
    if (this.#leases > 0 || this.#state.kind !== "loaded") return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.evict(), idleUnloadMs).unref();
  }

  #coolDown(): void {
    if (this.#state.kind !== "failed") return;
    clearTimeout(this.#timer);
    this.#move({ kind: "available" });
    this.#bringIfWanted();
  }

  #forgetOrder(): void {
    if (this.#ordered === undefined) return;
    this.#ordered = undefined;
    this.#proven = undefined;
    this.profile.reset(); // its context was the order's
  }

  #failure(): unknown {
    if (this.#state.kind !== "failed") return undefined;
    const { error, until } = this.#state;
    return loadFailed({ id: this.id, error, retryInMs: until.getTime() - this.#options.now().getTime() });
  }

  async #unload(): Promise<void> {
    clearTimeout(this.#timer);
    this.#move({ kind: "unloading" });
    await this.#free();
    if (this.#state.kind !== "unloading") return; // closed meanwhile
    this.#byMemory = {};
    if (this.#waiters.size === 0) this.#ordered = this.#proven;
    this.#counts.unloads += 1;
    this.#move({ kind: "available" });
    this.#bringIfWanted();
    this.#options.onChange();
  }

  async #free(): Promise<void> {
    const loaded = this.#loaded;
    if (loaded === undefined) return;
    this.#history.close(loaded.model.stats());
    this.#loaded = undefined;
    this.#options.onFree?.();
    await loaded[Symbol.asyncDispose]();
  }

  #move(next: ModelState): void {
    this.#state = moved(this.#state, next);
  }
}
