// The models in the house: today one, behind the interface that more will have. Its state machine:
//
//   empty ──▶ loading ──▶ loaded        failed ──▶ loading (another try)
//                │                      every state ──▶ closed
//                └──▶ failed
//
// Made by serve.ts, filled by the command line, read by the routes.
import { EngineError, type LoadedModel, type Model } from "@ingle/engine";
import type { ModelEntry } from "@ingle/protocol";
import { variants, type VariantName } from "../variants.ts";
import { WireError } from "../wire-error.ts";
import { Admission } from "./admission.ts";
import { toModelEntry } from "./model-entry.ts";

/** Seconds a client is asked to wait for a model that is loading, by how far it is. */
const retryAfter = { min: 1, max: 5 };

export type RegistryState =
  | { kind: "empty" }
  /** `progress` is 0 … 1. */
  | { kind: "loading"; id: string; progress: number }
  | { kind: "loaded"; id: string; model: Model; loadedAt: Date }
  | { kind: "failed"; id: string; error: unknown }
  | { kind: "closed" };

const movesFrom: Record<RegistryState["kind"], readonly RegistryState["kind"][]> = {
  empty: ["loading", "closed"],
  loading: ["loading", "loaded", "failed", "closed"],
  loaded: ["closed"],
  failed: ["loading", "closed"],
  closed: [],
};

/** Reads the weights; `onProgress` takes 0 … 1. */
export type ModelLoader = (
  onProgress: (fraction: number) => void,
  signal: AbortSignal,
) => Promise<LoadedModel>;

/** The right to use a model; it is not freed before every lease is disposed. */
export interface Lease extends Disposable {
  readonly id: string;
  readonly model: Model;
  readonly admission: Admission;
}

interface Holding {
  loaded: LoadedModel;
  admission: Admission;
}

export class ModelRegistry implements AsyncDisposable {
  readonly #waitingMax: number;
  readonly #now: () => Date;
  readonly #abort = new AbortController();
  #state: RegistryState = { kind: "empty" };
  #loading: Promise<Model> | undefined;
  #holding: Holding | undefined;
  #alias: string | undefined;
  #leases = 0;
  #onLastLease: (() => void) | undefined;
  #disposal: Promise<void> | undefined;

  /** @param options.waitingMax requests that may wait for a model beside those that it computes */
  constructor(options: { waitingMax: number; now?: () => Date }) {
    this.#waitingMax = options.waitingMax;
    this.#now = options.now ?? (() => new Date());
  }

  get state(): RegistryState {
    return this.#state;
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
    const state = this.#state;
    if (state.kind === "closed") throw shuttingDown();
    if (state.kind === "loading" || state.kind === "loaded") {
      if (state.id !== id)
        throw new WireError("invalid_request", `The model ${state.id} is in the house already.`);
      if (state.kind === "loaded") return state.model;
    }
    if (state.kind !== "loading" || this.#loading === undefined) {
      this.#alias = alias;
      this.#loading = this.#load(id, loader);
    }
    return this.#loading;
  }

  /** Throws `model_not_found`, `model_loading` (with a time to try again) or why loading failed. */
  acquire(requestedId: string, variant: VariantName): Lease {
    const state = this.#state;
    const acceptsAny = variants[variant].modelRule === "any";
    if (state.kind === "closed") throw shuttingDown();
    if (state.kind === "empty") throw notFound(requestedId);
    if (!acceptsAny && requestedId !== state.id && requestedId !== this.#alias) throw notFound(requestedId);
    if (state.kind === "loading") throw loadingStill(state);
    if (state.kind === "failed") throw loadFailed(state);
    return this.#lease(state.id);
  }

  /** Entries of `GET /v1/models`: what can be served now. */
  list(): ModelEntry[] {
    return this.#state.kind === "loaded" ? [toModelEntry(this.#state)] : [];
  }

  /** One entry. Throws `model_not_found`, or `model_loading` when it will be there soon. */
  describe(id: string): ModelEntry {
    const state = this.#state;
    if (state.kind === "loaded" && state.id === id) return toModelEntry(state);
    if (state.kind === "loading" && state.id === id) throw loadingStill(state);
    throw notFound(id);
  }

  /** Takes no new leases, ends a load under way, waits for the leases and frees the model. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal ??= this.#dispose();
    await this.#disposal;
  }

  async #dispose(): Promise<void> {
    this.#move({ kind: "closed" });
    this.#abort.abort(shuttingDown());
    await Promise.allSettled([this.#loading]);
    if (this.#leases > 0) await new Promise<void>((resolve) => (this.#onLastLease = resolve));
    await this.#holding?.loaded[Symbol.asyncDispose]();
  }

  async #load(id: string, loader: ModelLoader): Promise<Model> {
    this.#move({ kind: "loading", id, progress: 0 });
    const { signal } = this.#abort;
    try {
      const loaded = await loader((progress) => {
        // A report may come after the end: it changes nothing then.
        if (this.#state.kind === "loading") this.#move({ kind: "loading", id, progress });
      }, signal);
      const { model } = loaded;
      this.#holding = { loaded, admission: new Admission(model.info.parallel + this.#waitingMax) };
      signal.throwIfAborted(); // #dispose waits for us and frees what came too late
      this.#move({ kind: "loaded", id, model, loadedAt: this.#now() });
      return model;
    } catch (error) {
      if (!signal.aborted) this.#move({ kind: "failed", id, error });
      throw error;
    }
  }

  #lease(id: string): Lease {
    const holding = this.#holding;
    if (holding === undefined) throw new Error(`The model ${id} is loaded and yet not held.`);
    this.#leases += 1;
    let isHeld = true;
    return {
      id,
      model: holding.loaded.model,
      admission: holding.admission,
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#leases -= 1;
        if (this.#leases === 0) this.#onLastLease?.();
      },
    };
  }

  #move(next: RegistryState): void {
    if (!movesFrom[this.#state.kind].includes(next.kind)) {
      throw new Error(`A registry that is ${this.#state.kind} cannot become ${next.kind}.`);
    }
    this.#state = next;
  }
}

function notFound(id: string): WireError {
  return new WireError(
    "model_not_found",
    `The model ${JSON.stringify(id)} is not served here; GET /v1/models lists what is.`,
    {
      param: "model",
    },
  );
}

function loadingStill(state: { id: string; progress: number }): WireError {
  const percent = Math.floor(state.progress * 100);
  return new WireError(
    "model_loading",
    `The model ${state.id} is loading (${percent} %); try again shortly.`,
    {
      retryAfterSeconds: secondsLeft(state.progress),
    },
  );
}

function loadFailed({ id, error }: { id: string; error: unknown }): WireError {
  const why = EngineError.is(error) ? error.message : "the server's log has the reason.";
  const code = EngineError.is(error) && error.code === "out_of_memory" ? "out_of_memory" : "engine_failed";
  return new WireError(code, `The model ${id} could not be loaded: ${why}`, { cause: error });
}

/** Nothing is known about the speed, so the wait shrinks with what is left. */
export function secondsLeft(progress: number): number {
  return Math.max(retryAfter.min, Math.ceil(retryAfter.max * (1 - progress)));
}

function shuttingDown(): WireError {
  return new WireError("shutting_down", "The server is stopping; try another one.", {
    retryAfterSeconds: retryAfter.max,
  });
}
