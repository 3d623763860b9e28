// The models in the house: today one, behind the interface that more will have. Its state machine:
//
//   empty ──▶ loading ──▶ loaded ──▶ unloading ──▶ unloaded      nobody asked for idleUnloadMs
//              ▲  │                                   │
//              │  └──▶ failed                         │          every state ──▶ closed
//              └─────────┴────────────────────────────┘          another try; the next request
//
// Made by serve.ts, filled by the command line, read by the routes.
import { once } from "node:events";
import type { LoadedModel, Model } from "@ingle/engine";
import type { ModelEntry } from "@ingle/protocol";
import { variants, type VariantName } from "../variants.ts";
import { WireError } from "../wire-error.ts";
import { Admission, type Permit } from "./admission.ts";
import { EngineHistory, type EngineFigures } from "./engine-figures.ts";
import { toModelEntry } from "./model-entry.ts";
import { loadFailed, loadingStill, notFound, shuttingDown } from "./refusals.ts";

export type RegistryState =
  | { kind: "empty" }
  /** `progress` is 0 … 1. */
  | { kind: "loading"; id: string; progress: number }
  | { kind: "loaded"; id: string; model: Model; loadedAt: Date }
  | { kind: "unloading"; id: string }
  | { kind: "unloaded"; id: string }
  | { kind: "failed"; id: string; error: unknown }
  | { kind: "closed" };

const movesFrom: Record<RegistryState["kind"], readonly RegistryState["kind"][]> = {
  empty: ["loading", "closed"],
  loading: ["loading", "loaded", "failed", "closed"],
  loaded: ["unloading", "closed"],
  unloading: ["unloaded", "closed"],
  unloaded: ["loading", "closed"],
  failed: ["loading", "closed"],
  closed: [],
};

/** Reads the weights; `onProgress` takes 0 … 1. Called again after the model was unloaded. */
export type ModelLoader = (
  onProgress: (fraction: number) => void,
  signal: AbortSignal,
) => Promise<LoadedModel>;

/** The right to use a model, and a place among those that do; it is not freed before every lease is disposed. */
export interface Lease extends Disposable {
  readonly id: string;
  readonly model: Model;
}

/** A model that was loaded once: what stays of it while it is unloaded. */
interface Resident {
  id: string;
  alias: string | undefined;
  loader: ModelLoader;
  admission: Admission;
  entry: ModelEntry;
}

export interface RegistryOptions {
  /** Requests that may wait for a model beside those that it computes. */
  waitingMax: number;
  /** A model without requests for this long is freed until the next one. Default: never. */
  idleUnloadMs?: number | undefined;
  now?: () => Date;
}

export class ModelRegistry implements AsyncDisposable {
  readonly #options: RegistryOptions;
  readonly #abort = new AbortController();
  readonly #history = new EngineHistory();
  #state: RegistryState = { kind: "empty" };
  #resident: Resident | undefined;
  #loaded: LoadedModel | undefined;
  #loading: Promise<Model> | undefined;
  #unloading: Promise<void> | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  /** Leases that are held or waited for; those that are waited for count in `#waking` too. */
  #leases = 0;
  #waking = 0;
  #onLastLease: (() => void) | undefined;
  #disposal: Promise<void> | undefined;

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  get state(): RegistryState {
    return this.#state;
  }

  /** Whether a request would be taken now: it may have to wait until an idle model is loaded again. */
  get isReady(): boolean {
    const { kind } = this.#state;
    return kind !== "closed" && kind !== "failed" && this.#resident !== undefined;
  }

  /** How the engine is now, and what all engines of this registry have done. */
  figures(): EngineFigures {
    const state = this.#state;
    const figures = this.#history.with(state.kind === "loaded" ? state.model.stats() : undefined);
    return { ...figures, waiting: figures.waiting + this.#waking };
  }

  /**
   * Loads a model, once: callers that come while the same id loads share that load, and a loaded one is given at once.
   * Requests may also name it by its `alias`: the path or name that the server was started with.
   * Throws what the loader throws, `invalid_request` while another model is in the house, `shutting_down` after disposal.
   */
  async load(
    id: string,
    loader: ModelLoader,
    { alias }: { alias?: string | undefined } = {},
  ): Promise<Model> {
    if (this.#unloading !== undefined) await this.#unloading;
    const state = this.#state;
    if (state.kind === "closed") throw shuttingDown();
    const presentId = state.kind === "loading" ? state.id : this.#resident?.id;
    if (presentId !== undefined && presentId !== id)
      throw new WireError("invalid_request", `The model ${presentId} is in the house already.`);
    if (state.kind === "loaded") return state.model;
    if (state.kind !== "loading" || this.#loading === undefined) {
      this.#loading = this.#load(id, loader, alias);
    }
    return this.#loading;
  }

  /**
   * Takes a place and the model, the one that is served where no id is asked for; waits while an idle one is loaded again. Throws `overloaded`, `model_not_found`,
   * `model_loading` (with a time to try again), why loading failed, or the signal's reason.
   */
  async acquire(
    requestedId: string | undefined,
    variant: VariantName,
    { signal, places = 1 }: { signal?: AbortSignal | undefined; places?: number } = {},
  ): Promise<Lease> {
    const resident = this.#find(requestedId, variant);
    const lease = this.#hold(resident.admission.enter({ signal, places }));
    try {
      const state = this.#state;
      const model = state.kind === "loaded" ? state.model : await this.#wake(resident, signal);
      signal?.throwIfAborted();
      return { id: resident.id, model, [Symbol.dispose]: () => lease[Symbol.dispose]() };
    } catch (error) {
      lease[Symbol.dispose]();
      throw error;
    }
  }

  /** Entries of `GET /v1/models`: what can be served now, if need be after loading it again. */
  list(): ModelEntry[] {
    const { kind } = this.#state;
    if (this.#resident === undefined || kind === "failed" || kind === "closed") return [];
    const { entry } = this.#resident;
    if (kind === "loaded") return [entry];
    return [{ ...entry, status: kind === "loading" ? "loading" : "available" }];
  }

  /** One entry. Throws `model_not_found`, or `model_loading` when it will be there soon. */
  describe(id: string): ModelEntry {
    const entry = this.list().find((candidate) => candidate.id === id);
    if (entry !== undefined) return entry;
    if (this.#state.kind === "loading" && this.#state.id === id) throw loadingStill(this.#state);
    throw notFound(id);
  }

  /** Takes no new leases, ends a load under way, waits for the leases and frees the model. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal ??= this.#dispose();
    await this.#disposal;
  }

  async #dispose(): Promise<void> {
    clearTimeout(this.#idleTimer);
    this.#move({ kind: "closed" });
    this.#abort.abort(shuttingDown());
    await Promise.allSettled([this.#loading, this.#unloading]);
    if (this.#leases > 0) await new Promise<void>((resolve) => (this.#onLastLease = resolve));
    await this.#loaded?.[Symbol.asyncDispose]();
  }

  async #load(id: string, loader: ModelLoader, alias: string | undefined): Promise<Model> {
    this.#move({ kind: "loading", id, progress: 0 });
    const { signal } = this.#abort;
    try {
      const loaded = await loader((progress) => {
        // A report may come after the end: it changes nothing then.
        if (this.#state.kind === "loading") this.#move({ kind: "loading", id, progress });
      }, signal);
      this.#loaded = loaded;
      signal.throwIfAborted(); // #dispose waits for us and frees what came too late
      const { model } = loaded;
      const loadedAt = this.#options.now?.() ?? new Date();
      this.#resident ??= {
        id,
        alias,
        loader,
        admission: new Admission(model.info.parallel + this.#options.waitingMax),
        entry: toModelEntry({ id, model, loadedAt }),
      };
      this.#move({ kind: "loaded", id, model, loadedAt });
      this.#rest();
      return model;
    } catch (error) {
      if (!signal.aborted) this.#move({ kind: "failed", id, error });
      throw error;
    }
  }

  /** The model that a request means. Throws why it cannot be had. */
  #find(requestedId: string | undefined, variant: VariantName): Resident {
    const state = this.#state;
    if (state.kind === "closed") throw shuttingDown();
    if (state.kind === "empty") throw notFound(requestedId);
    const acceptsAny = requestedId === undefined || variants[variant].modelRule === "any";
    if (!acceptsAny && requestedId !== state.id && requestedId !== this.#resident?.alias)
      throw notFound(requestedId);
    if (this.#resident !== undefined) return this.#resident;
    if (state.kind === "loading") throw loadingStill(state);
    throw loadFailed({ id: state.id, error: state.kind === "failed" ? state.error : undefined });
  }

  #hold(place: Permit): Disposable {
    clearTimeout(this.#idleTimer);
    this.#leases += 1;
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        place[Symbol.dispose]();
        this.#leases -= 1;
        if (this.#leases > 0) return;
        this.#onLastLease?.();
        this.#rest();
      },
    };
  }

  /** Loads an idle model again: once, however many wait for it. */
  async #wake({ id, loader, alias }: Resident, signal: AbortSignal | undefined): Promise<Model> {
    this.#waking += 1;
    try {
      const signals = [this.#abort.signal, ...(signal === undefined ? [] : [signal])];
      return await orAborted(this.load(id, loader, { alias }), AbortSignal.any(signals));
    } catch (error) {
      if (this.#state.kind === "failed" && this.#state.error === error) throw loadFailed({ id, error });
      throw error;
    } finally {
      this.#waking -= 1;
    }
  }

  /** Begins to wait for idleUnloadMs without requests. */
  #rest(): void {
    const { idleUnloadMs } = this.#options;
    if (idleUnloadMs === undefined || this.#leases > 0 || this.#state.kind !== "loaded") return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      this.#unloading = this.#unload(); // nothing in it fails but a mistake of ours
    }, idleUnloadMs).unref();
  }

  async #unload(): Promise<void> {
    const [state, loaded] = [this.#state, this.#loaded];
    if (state.kind !== "loaded" || this.#leases > 0) return;
    this.#history.close(state.model.stats());
    this.#loaded = undefined;
    this.#move({ kind: "unloading", id: state.id });
    await loaded?.[Symbol.asyncDispose]();
    if (this.#state.kind === "unloading") this.#move({ kind: "unloaded", id: state.id });
  }

  #move(next: RegistryState): void {
    if (!movesFrom[this.#state.kind].includes(next.kind)) {
      throw new Error(`A registry that is ${this.#state.kind} cannot become ${next.kind}.`);
    }
    this.#state = next;
  }
}

/** The promise's end, or the signal's reason when that comes first. */
async function orAborted<T>(pending: Promise<T>, signal: AbortSignal): Promise<T> {
  const settled = new AbortController();
  try {
    return await Promise.race([pending, abortion(signal, settled.signal)]);
  } finally {
    settled.abort(); // takes the listener back
  }
}

async function abortion(signal: AbortSignal, giveUp: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, "abort", { signal: giveUp });
  signal.throwIfAborted();
  throw new Error("A signal said that it was aborted and is not.");
}
