// The memory of all models together: grants it to one model at a time, evicts others for it, and waits until they are freed.
import { addMemory, remainingBudget, type MemoryBudget, type MemoryBytes } from "@ingle/engine";
import { ChangeSignal, orAborted } from "../../signals.ts";
import { takesMemory, type ModelState } from "../slot/model-state.ts";
import { planEviction, type Resident, type MemoryLimits } from "./eviction-plan.ts";

/** A model as the planner sees it. */
export interface PlannedModel extends Omit<Resident, "isLeaving"> {
  readonly id: string;
  readonly state: ModelState;
  /** Frees it once no lease is held. */
  evict(): void;
  /** Cancels evict(), unless it is already being freed. */
  keep(): void;
}

interface PlannedResident extends Resident {
  readonly model: PlannedModel;
}

export class MemoryPlanner {
  readonly limits: MemoryLimits;
  readonly #models: () => readonly PlannedModel[];
  readonly #changes = new ChangeSignal();
  /** Resolves when the last one in the queue is done. */
  #queue: Promise<void> = Promise.resolve();

  /** `models`: all of them, in memory or not. */
  constructor(limits: MemoryLimits, models: () => readonly PlannedModel[]) {
    this.limits = limits;
    this.#models = models;
  }

  /** The memory that the models take, as far as known. */
  used(): MemoryBytes {
    return addMemory(...this.#inMemory().map(({ byMemory }) => byMemory));
  }

  /**
   * The part of the budget that the other models in memory leave to this one. Undefined if none has to be spared: there is no
   * budget or no other model, or one of them is evicted anyway.
   */
  leftFor(model: PlannedModel): MemoryBudget | undefined {
    const { budget, loadedMax = Infinity } = this.limits;
    const others = this.#inMemory().filter((each) => each !== model);
    if (budget === undefined || others.length === 0 || others.length >= loadedMax) return undefined;
    return remainingBudget(budget, addMemory(...others.map(({ byMemory }) => byMemory)));
  }

  #inMemory(): PlannedModel[] {
    return this.#models().filter(({ state }) => takesMemory(state));
  }

  /** Resolves pending calls of nextChange(): a slot has changed. */
  changed(): void {
    this.#changes.note();
  }

  /** Resolves at the next change of a slot. Rejects with the signal's reason. */
  async nextChange(signal: AbortSignal): Promise<void> {
    await this.#changes.next(signal);
  }

  /**
   * Waits in the queue, then evicts models but `except` until one of this size fits beside the rest. No other model gets memory
   * before the result is disposed. Undefined if it does not fit beside the pinned models. Throws the signal's reason.
   */
  async reserve(
    byMemory: () => MemoryBytes,
    signal: AbortSignal,
    except?: PlannedModel,
  ): Promise<Disposable | undefined> {
    const turn = await this.#waitForTurn(signal);
    let fits = false;
    try {
      fits = await this.#evictFor(byMemory, signal, except);
    } finally {
      if (!fits) turn[Symbol.dispose]();
    }
    return fits ? turn : undefined;
  }

  /** First come, first served. */
  async #waitForTurn(signal: AbortSignal): Promise<Disposable> {
    const before = this.#queue;
    let leave: () => void = () => {};
    const isLeft = new Promise<void>((resolve) => (leave = resolve));
    const turn = { [Symbol.dispose]: () => leave() };
    this.#queue = waitForBoth(before, isLeft);
    try {
      await orAborted(before, signal);
      return turn;
    } catch (error) {
      turn[Symbol.dispose]();
      throw error;
    }
  }

  /** False if it will never fit. */
  async #evictFor(
    byMemory: () => MemoryBytes,
    signal: AbortSignal,
    except: PlannedModel | undefined,
  ): Promise<boolean> {
    try {
      for (;;) {
        const residents = this.#inMemory().filter((each) => each !== except);
        const plan = planEviction(byMemory(), residents.map(toResident), this.limits);
        if (plan.kind !== "waits") return plan.kind === "fits";
        for (const { model } of plan.evict) model.evict();
        await this.nextChange(signal);
      }
    } finally {
      for (const model of this.#models()) if (model !== except) model.keep(); // those that are not freed yet may stay
    }
  }
}

/** The model as the eviction plan sees it. */
export function toResident(model: PlannedModel): PlannedResident {
  const { kind } = model.state;
  const { byMemory, isPinned, leases, lastUse } = model;
  return {
    model,
    byMemory,
    isPinned,
    isLeaving: kind === "draining" || kind === "unloading",
    leases,
    lastUse,
  };
}

async function waitForBoth(first: Promise<void>, second: Promise<void>): Promise<void> {
  await first;
  await second;
}
