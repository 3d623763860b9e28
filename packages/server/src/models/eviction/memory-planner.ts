// Grants memory to one model at a time: evicts others for it, and waits until they are freed.
import type { MemoryBytes } from "@ingle/engine";
import { ChangeSignal } from "../../change-signal.ts";
import { orAborted } from "../../or-aborted.ts";
import { takesMemory } from "../slot/model-state.ts";
import type { ModelSlot } from "../slot/model-slot.ts";
import { planEviction, type Resident, type MemoryLimits } from "./eviction-plan.ts";

export interface ResidentSlot extends Resident {
  readonly slot: ModelSlot;
}

export class MemoryPlanner {
  readonly #limits: MemoryLimits;
  readonly #changes = new ChangeSignal();
  /** Resolves when the last one in the queue is done. */
  #queue: Promise<void> = Promise.resolve();

  constructor(limits: MemoryLimits) {
    this.#limits = limits;
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
   * Waits in the queue, then evicts other `slots` until a model of this size fits beside the rest. No other model gets memory
   * before the result is disposed. Undefined if it does not fit beside the pinned models. Throws the signal's reason.
   */
  async reserve(
    byMemory: () => MemoryBytes,
    slots: () => readonly ModelSlot[],
    signal: AbortSignal,
  ): Promise<Disposable | undefined> {
    const turn = await this.#waitForTurn(signal);
    let fits = false;
    try {
      fits = await this.#evictFor(byMemory, slots, signal);
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
    this.#queue = bothOf(before, isLeft);
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
    slots: () => readonly ModelSlot[],
    signal: AbortSignal,
  ): Promise<boolean> {
    try {
      for (;;) {
        const residents = slots().filter(({ state }) => takesMemory(state));
        const plan = planEviction(byMemory(), residents.map(toResident), this.#limits);
        if (plan.kind !== "waits") return plan.kind === "fits";
        for (const { slot } of plan.evict) slot.evict();
        await this.nextChange(signal);
      }
    } finally {
      for (const slot of slots()) slot.keep(); // models that are not freed yet may stay
    }
  }
}

/** The slot as the eviction plan sees it. */
export function toResident(slot: ModelSlot): ResidentSlot {
  const { kind } = slot.state;
  const { byMemory, isPinned, leases, lastUse } = slot;
  return {
    slot,
    byMemory,
    isPinned,
    isLeaving: kind === "draining" || kind === "unloading",
    leases,
    lastUse,
  };
}

async function bothOf(first: Promise<void>, second: Promise<void>): Promise<void> {
  await first;
  await second;
}
