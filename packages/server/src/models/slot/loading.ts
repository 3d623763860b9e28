// The load of a model: the requests that wait for it, each of which is granted the model, refused, or aborted; and its preparation, which
// ends when no request waits any more.
import { addMemory, type MemoryBytes, type Model } from "@ingle/engine";
import { orAborted } from "../../signals.ts";
import type { KnownModel, PreparedModel } from "../catalog/known-model.ts";
import type { MemoryPlanner, PlannedModel } from "../eviction/memory-planner.ts";
import { noMemory } from "../model-errors.ts";
import type { LoadSettings } from "./load-settings.ts";
import type { SlotMemory } from "./slot-memory.ts";

/**
 * Time after a failed load during which requests do not trigger another: retries of a thousand clients would cause nothing but
 * loads.
 */
export const coolDownMs = 10_000;

interface LoadingModel extends PlannedModel {
  readonly known: KnownModel;
  readonly requestedSettings: LoadSettings | undefined;
  readonly memory: SlotMemory;
}

/** One load, until the model's weights are read. */
export class Loading {
  readonly #planner: MemoryPlanner;
  readonly #signal: AbortSignal;
  readonly #unwanted = new AbortController();

  /** @param closing aborted when the server closes */
  constructor(planner: MemoryPlanner, closing: AbortSignal) {
    this.#planner = planner;
    this.#signal = AbortSignal.any([this.#unwanted.signal, closing]);
  }

  /** No request waits any more. */
  giveUp(reason: unknown): void {
    this.#unwanted.abort(reason);
  }

  get isGivenUp(): boolean {
    return this.#unwanted.signal.aborted;
  }

  /**
   * Prepares the model, and waits for memory, which stays reserved until the result is disposed. Throws what preparing throws,
   * `out_of_memory` if there is no space beside the pinned models, and the reason for giving up.
   */
  async prepare(model: LoadingModel): Promise<PreparedModel & Disposable> {
    const { budget } = this.#planner.limits;
    const { known, requestedSettings: settings } = model;
    const signal = this.#signal;
    const left = this.#planner.leftFor(model);
    const prepared = await orAborted(known.prepare({ budget, left, settings, signal }), signal);
    const byMemory = (): MemoryBytes => addMemory(prepared.byMemory, model.memory.reserved);
    const reserved = await this.#planner.reserve(byMemory, signal);
    if (reserved === undefined) throw noMemory(byMemory(), this.#planner.limits);
    return { ...prepared, [Symbol.dispose]: () => reserved[Symbol.dispose]() };
  }
}

interface Waiter {
  grant(model: Model): void;
  refuse(error: unknown): void;
}

export class LoadWaiters {
  readonly #waiters = new Set<Waiter>();
  readonly #onEmpty: (reason: unknown) => void;

  /** @param onEmpty called when the last one was aborted, with its reason */
  constructor(onEmpty: (reason: unknown) => void) {
    this.#onEmpty = onEmpty;
  }

  get size(): number {
    return this.#waiters.size;
  }

  /** Waits for grant(). Rejects with the error of refuse(), or the signal's reason. */
  async wait(signal: AbortSignal | undefined): Promise<Model> {
    return await new Promise<Model>((resolve, reject) => {
      const leave = (): void => {
        this.#waiters.delete(waiter);
        waiter.refuse(signal?.reason);
        if (this.size === 0) this.#onEmpty(signal?.reason);
      };
      const stay = (): void => signal?.removeEventListener("abort", leave);
      const waiter: Waiter = {
        grant: (model) => {
          stay();
          resolve(model);
        },
        refuse: (error) => {
          stay();
          // oxlint-disable-next-line prefer-promise-reject-errors -- it is what was thrown, or the signal's reason
          reject(error);
        },
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.#waiters.add(waiter);
    });
  }

  /** Resolves all of them with the model. Returns how many there were. */
  grant(model: Model): number {
    const waiters = this.#takeAll();
    for (const waiter of waiters) waiter.grant(model);
    return waiters.length;
  }

  refuse(error: unknown): void {
    for (const waiter of this.#takeAll()) waiter.refuse(error);
  }

  #takeAll(): Waiter[] {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    return waiters;
  }
}
