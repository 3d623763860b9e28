// One model of the server: its state, its leases, its waiting requests, and the statistics of its engines. It is loaded once
// however many requests wait, and never freed while a lease is held.
import type { MemoryBytes, Model, ModelInfo } from "@ingle/engine";
import type { ModelEntry } from "@ingle/protocol";
import { Admission } from "../admission.ts";
import type { KnownModel, PreparedModel } from "../catalog/known-model.ts";
import { ModelProfile } from "../catalog/model-profile.ts";
import { loadedWithOtherSettings, loadFailed, settingsAreFixed, shuttingDown } from "../model-errors.ts";
import { agree, settingsOver, type LoadSettings, RequestedSettings } from "./load-settings.ts";
import { IdleTime } from "./idle-time.ts";
import type { Lease, LeaseNeeds, SlotOptions } from "./slot-interface.ts";
import { coolDownMs, Loading, LoadWaiters } from "./loading.ts";
import { areSettingsInUse, moved, shownStatus, type ModelState } from "./model-state.ts";
import { SlotEngine, type EngineStats } from "./slot-engine.ts";
import { SlotMemory } from "./slot-memory.ts";

export class ModelSlot {
  readonly profile: ModelProfile;
  readonly idle: IdleTime;
  readonly memory = new SlotMemory();
  readonly #options: SlotOptions;
  readonly engine = new SlotEngine();
  readonly #admission: Admission;
  readonly #waiters = new LoadWaiters((reason) => this.#loading?.giveUp(reason));
  readonly #counts = { loads: 0, failures: 0, unloads: 0 };
  #state: ModelState = { kind: "available" };
  #isPinned: boolean;
  #leases = 0;
  #lastUse = 0;
  /** The profile's context length also counts as requested. */
  readonly #requested = new RequestedSettings(() => this.profile.reset());
  /** The usual settings at the last load. */
  #loadedWith: LoadSettings | undefined;
  /** Whether the model was freed because it was lost: then it is loaded again even if no request waits for it. */
  #returns = false;
  /** The load in progress, or the last one. */
  #loading: Loading | undefined;
  /** Resolves when that load has ended. */
  #loadEnd: Promise<void> | undefined;
  #unloading: Promise<void> | undefined;
  /** For the cool-down of a failed model. */
  #timer: NodeJS.Timeout | undefined;
  #onLastLease: (() => void) | undefined;

  constructor(known: KnownModel, options: SlotOptions) {
    this.profile = new ModelProfile(known);
    this.#isPinned = options.isPinned;
    this.#options = options;
    this.idle = new IdleTime({ usualMs: options.idleUnloadMs, now: options.now, onEnd: () => this.evict() });
    // Resized when the model is loaded: only then is it known how many requests it computes at once.
    this.#admission = new Admission(options.waitingMax + 1);
  }

  get id(): string {
    return this.known.id;
  }

  /** Its id and its aliases. */
  get names(): readonly string[] {
    return [this.id, ...this.profile.aliases, ...(this.known.aliases ?? [])];
  }

  get known(): KnownModel {
    return this.profile.known;
  }

  /** Replaces what the catalog knows about the model: its file may have been downloaded again, or renamed. */
  update(known: KnownModel): void {
    this.profile.update(known, { isNeverLoaded: this.#counts.loads === 0 });
  }

  get state(): ModelState {
    return this.#state;
  }

  /** Number of held leases. */
  get leases(): number {
    return this.#leases;
  }

  /** Number of requests that wait for the model to be loaded. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** When it was last used, as a number that only grows; 0 if never. */
  get lastUse(): number {
    return this.#lastUse;
  }

  /** The number of successful loads, failed loads, unloads, and crashes of the engine's process. */
  get counts(): Readonly<{ loads: number; failures: number; unloads: number; crashes: number }> {
    return { ...this.#counts, crashes: this.engine.crashes };
  }

  /** The memory that it takes, or will take once it is loaded. Empty if unknown. */
  get byMemory(): MemoryBytes {
    return this.memory.byMemory;
  }

  /** Facts about the loaded model; undefined while it is not loaded. */
  get info(): ModelInfo | undefined {
    return this.engine.model?.info;
  }

  /** Names of its adapters. */
  get adapters(): readonly string[] {
    return this.info?.adapters ?? this.known.adapters ?? [];
  }

  /** Names of its profiles. */
  get profiles(): readonly string[] {
    return Object.keys(this.known.replies?.profiles ?? {});
  }

  /** The settings of a management request; undefined if there were none. */
  get requestedSettings(): LoadSettings | undefined {
    return this.#requested.current;
  }

  /** How the model is or will be loaded: as requested, else with its own settings and the server's. Unknown settings are absent. */
  get settings(): LoadSettings {
    const usual = areSettingsInUse(this.#state) ? this.#loadedWith : this.known.settings;
    const requested = settingsOver(this.requestedSettings, usual ?? {});
    return settingsOver({ contextLength: this.info?.contextLength }, requested);
  }

  get entry(): ModelEntry {
    return { ...this.profile.entry, status: this.engine.isRestarting ? "loading" : shownStatus(this.#state) };
  }

  /** Gauges of the current engine, and counters over all engines of this slot. */
  stats(): EngineStats {
    const stats = this.engine.stats();
    return { ...stats, waiting: stats.waiting + this.waiting };
  }

  /**
   * Admits a request that takes `places`, and leases the model; waits while the model is not in memory. Throws
   * `overloaded`, the reason why the model cannot be loaded, or the signal's reason.
   */
  async lease(options: LeaseNeeds): Promise<Lease> {
    const permit = this.#admission.enter(options);
    try {
      const model = await this.#hold(options.signal);
      let isHeld = true;
      const release = (): void => {
        if (!isHeld) return;
        isHeld = false;
        permit[Symbol.dispose]();
        this.#release();
      };
      return { id: this.id, model, [Symbol.dispose]: release };
    } catch (error) {
      permit[Symbol.dispose]();
      throw this.#state.kind === "failed" && this.#state.error === error ? this.#failure() : error;
    }
  }

  async #hold(signal: AbortSignal | undefined): Promise<Model> {
    signal?.throwIfAborted();
    const { kind } = this.#state;
    if (kind === "closed") throw shuttingDown();
    if (kind === "failed") throw this.#failure();
    const { model: present } = this.engine;
    if (kind === "loaded" && present !== undefined) {
      this.#addLeases(1);
      return present;
    }
    const waiting = this.#waiters.wait(signal);
    this.#loadIfWanted();
    const model = await waiting;
    if (signal?.aborted === true) this.#release(); // aborted at the moment the lease was granted
    signal?.throwIfAborted();
    return model;
  }

  #addLeases(count: number): void {
    this.#leases += count;
    this.#noteUse();
    if (count > 0) this.idle.stop();
  }

  #release(): void {
    this.#leases -= 1;
    this.#noteUse();
    if (this.#leases > 0) return;
    this.#onLastLease?.();
    if (this.#state.kind === "draining") this.evict();
    this.#startIdleTimer();
    this.#options.planner.changed();
  }

  #noteUse(): void {
    this.#lastUse = this.#options.nextUse();
    this.profile.used(this.#options.now());
  }

  /** Throws `invalid_request` if the model is loaded with other settings, or takes none. */
  assertAccepts(settings: LoadSettings): void {
    if (this.known.settings === undefined) throw settingsAreFixed(this.id);
    if (areSettingsInUse(this.#state) && !agree(settings, this.settings))
      throw loadedWithOtherSettings(this.id, this.settings);
  }

  /** Waits until the model is loaded, and ends a cool-down. The settings apply until unload(). */
  async ensureLoaded(signal?: AbortSignal, settings?: LoadSettings): Promise<Model> {
    signal?.throwIfAborted();
    if (settings !== undefined) this.assertAccepts(settings);
    if (settings !== undefined && !areSettingsInUse(this.#state)) this.#requested.request(settings);
    this.#endCoolDown();
    const model = await this.#hold(signal);
    this.#release();
    return model;
  }

  #loadIfWanted(): void {
    if (this.#state.kind === "available" && (this.#waiters.size > 0 || this.#returns))
      this.#loadEnd = this.#load();
  }

  /** Prepares the model, reserves memory for it and loads it. Never rejects: waiting requests get the error. */
  async #load(): Promise<void> {
    const { planner, closing } = this.#options;
    const loading = new Loading(planner, closing);
    this.#loading = loading;
    this.#loadedWith = this.known.settings;
    this.#move({ kind: "preparing" });
    try {
      using prepared = await loading.prepare(this);
      await this.#read(prepared, closing);
    } catch (error) {
      this.#notLoaded(error, loading);
    }
  }

  /** Reads the prepared model, and leases it to all waiting requests. Throws what the loader throws. */
  async #read({ byMemory, traits, load }: PreparedModel, signal: AbortSignal): Promise<void> {
    this.memory.plan(byMemory);
    this.profile.learnTraits(traits);
    this.#move({ kind: "loading", progress: 0 });
    const onProgress = (progress: number): void => {
      // A report may arrive after the end.
      if (this.#state.kind === "loading") this.#move({ kind: "loading", progress });
    };
    const loaded = await load(onProgress, signal);
    const { model } = loaded;
    this.engine.hold(loaded, (crash) => this.#options.onCrash?.(crash));
    this.memory.loaded(model);
    signal.throwIfAborted(); // close() waits for us and frees the model
    this.#returns = false;
    void model.lost.then(() => this.#lost(model)); // it never rejects
    const loadedAt = this.#options.now();
    this.profile.loaded(model, loadedAt);
    this.#admission.resize(model.info.parallel + this.#options.waitingMax);
    this.#counts.loads += 1;
    this.#requested.prove();
    this.#move({ kind: "loaded", loadedAt });
    this.#options.onLoaded?.(model);
    this.#grantToWaiters(model);
    this.followSettings();
    this.#options.planner.changed();
  }

  /** Frees the model, once no lease is held, if it would be loaded with other settings now: the next request loads it again. */
  followSettings(): void {
    const over = (usual = {}): string => JSON.stringify(settingsOver(this.requestedSettings, usual));
    const isSame = over(this.known.settings) === over(this.#loadedWith);
    if (this.#state.kind === "loaded" && !isSame) this.evict();
  }

  /** Leases the model to all waiting requests at once, so that no eviction can happen between the load and its first use. */
  #grantToWaiters(model: Model): void {
    this.#addLeases(this.#waiters.grant(model));
    this.#startIdleTimer();
  }

  /** Preparing or loading has ended without a model: no request waits any more, or `error` is the reason. */
  #notLoaded(error: unknown, loading: Loading): void {
    if (this.#state.kind === "closed") return;
    this.memory.freed();
    const isGivenUp = this.#state.kind === "preparing" && loading.isGivenUp;
    // Requests that have arrived since then may want the model with the requested settings.
    if (!isGivenUp || this.#waiters.size === 0) this.#requested.giveUp();
    if (isGivenUp) {
      this.#move({ kind: "available" });
      this.#loadIfWanted();
    } else {
      this.#counts.failures += 1;
      const until = new Date(this.#options.now().getTime() + coolDownMs);
      this.#move({ kind: "failed", error, until });
      this.#timer = setTimeout(() => this.#endCoolDown(), coolDownMs).unref();
      this.#waiters.refuse(error);
    }
    this.#options.planner.changed();
  }

  #endCoolDown(): void {
    if (this.#state.kind !== "failed") return;
    clearTimeout(this.#timer);
    this.#move({ kind: "available", failure: this.#state.error });
    this.#loadIfWanted();
  }

  #failure(): unknown {
    if (this.#state.kind !== "failed") return undefined;
    const { error, until } = this.#state;
    return loadFailed({ id: this.id, error, retryInMs: until.getTime() - this.#options.now().getTime() });
  }

  /** Whether only unload() frees the model. */
  get isPinned(): boolean {
    return this.#isPinned;
  }

  /** Pins or unpins the model. Pinning cancels an eviction that has not freed the model yet. */
  pin(isPinned: boolean): void {
    this.#isPinned = isPinned;
    if (isPinned) this.idle.stop();
    if (isPinned && this.#state.kind === "draining" && !this.#state.isUnloadRequested) this.keep();
    this.#startIdleTimer();
    this.#options.planner.changed();
  }

  /** Frees a loaded model once no lease is held. Requests that come meanwhile wait until it is loaded again. */
  evict(): void {
    const state = this.#state;
    if (state.kind === "loaded") this.#move({ ...state, kind: "draining", isUnloadRequested: false });
    if (this.#state.kind !== "draining" || this.#leases > 0) return;
    if (this.#state.isUnloadRequested) this.#requested.drop();
    this.#unloading = this.#unload(); // it rejects only if we have a bug
  }

  /** Does the same for a management request: the requested settings then no longer apply. */
  unload(): void {
    this.#returns = false;
    const state = this.#state;
    if (state.kind === "loaded" || state.kind === "draining") {
      this.#move({ kind: "draining", loadedAt: state.loadedAt, isUnloadRequested: true });
      this.evict();
    } else if (!areSettingsInUse(state)) this.#requested.drop();
  }

  /** Cancels evict() and unload(), unless the model is already being freed. */
  keep(): void {
    const state = this.#state;
    const { model } = this.engine;
    if (state.kind !== "draining" || model === undefined || this.#returns) return;
    this.#move({ kind: "loaded", loadedAt: state.loadedAt });
    this.#grantToWaiters(model);
    this.#options.planner.changed();
  }

  /** Grants no more leases, waits until held ones are disposed, and frees the model. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.idle.stop();
    this.#move({ kind: "closed" });
    this.#waiters.refuse(shuttingDown());
    await Promise.allSettled([this.#loadEnd, this.#unloading]);
    if (this.#leases > 0) await new Promise<void>((resolve) => (this.#onLastLease = resolve));
    await this.#free();
  }

  #lost(model: Model): void {
    if (this.engine.model !== model || this.#state.kind === "closed") return;
    this.#returns = true;
    this.evict();
  }

  async #unload(): Promise<void> {
    this.idle.reset();
    this.#move({ kind: "unloading" });
    await this.#free();
    if (this.#state.kind !== "unloading") return; // closed meanwhile
    this.memory.freed();
    if (this.#waiters.size === 0) this.#requested.giveUp();
    this.#counts.unloads += 1;
    this.#move({ kind: "available" });
    this.#loadIfWanted();
    this.#options.planner.changed();
  }

  async #free(): Promise<void> {
    if (this.engine.model === undefined) return;
    this.memory.leaving();
    const loaded = this.engine.release();
    this.#options.onFree?.();
    await loaded?.[Symbol.asyncDispose]();
  }

  #startIdleTimer(): void {
    if (!this.#isPinned && this.#leases === 0 && this.#state.kind === "loaded") this.idle.start();
  }

  #move(next: ModelState): void {
    this.#state = moved(this.#state, next);
  }
}
