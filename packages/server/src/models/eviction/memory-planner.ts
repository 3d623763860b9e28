// MemoryPlanner in memory for one more model: those that want it come one after the other, and others are asked to leave for
// them. Held by registry.ts.
import { EventEmitter, once } from "node:events";
import type { MemoryBytes } from "@ingle/engine";
import { orAborted } from "../../or-aborted.ts";
import { takesMemory } from "../slot/model-state.ts";
import type { ModelSlot } from "../slot/model-slot.ts";
import { noMemory } from "../model-errors.ts";
import { planEviction, type Resident, type MemoryLimits } from "./eviction-plan.ts";

export interface ResidentSlot extends Resident {
  readonly slot: ModelSlot;
}

export class MemoryPlanner {
  readonly #limits: MemoryLimits;
  readonly #changes = new EventEmitter();
  /** Ends when the last one in line has left it. */
  #line: Promise<void> = Promise.resolve();

  constructor(limits: MemoryLimits) {
    this.#limits = limits;
    this.#changes.setMaxListeners(0); // one for each order to unload that waits
  }

  /** A slot has changed; who waits looks again. */
  changed(): void {
    this.#changes.emit("change");
  }

  /** Resolves at the next change. Rejects with the signal's reason. */
  async nextChange(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    try {
      await once(this.#changes, "change", { signal });
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  }

  /**
   * Waits in line, then until there is room beside the other `slots`, which leave for it as far as they may. Nobody else
   * is given room before the result is disposed. Throws `out_of_memory` when there will never be any, or the signal's reason.
   */
  async enter(
    byMemory: MemoryBytes,
    slots: () => readonly ModelSlot[],
    signal: AbortSignal,
  ): Promise<Disposable> {
    const turn = await this.#enterLine(signal);
    try {
      await this.#makeRoom(byMemory, slots, signal);
      return turn;
    } catch (error) {
      turn[Symbol.dispose]();
      throw error;
    }
  }

  /** First come, first served. */
  async #enterLine(signal: AbortSignal): Promise<Disposable> {
    const before = this.#line;
    let leave: () => void = () => {};
    const isLeft = new Promise<void>((resolve) => (leave = resolve));
    const turn = { [Symbol.dispose]: () => leave() };
    this.#line = bothOf(before, isLeft);
    try {
      await orAborted(before, signal);
      return turn;
    } catch (error) {
      turn[Symbol.dispose]();
      throw error;
    }
  }

  async #makeRoom(
    byMemory: MemoryBytes,
    slots: () => readonly ModelSlot[],
    signal: AbortSignal,
  ): Promise<void> {
    try {
      for (;;) {
        const residents = slots().filter(({ state }) => takesMemory(state));
        const plan = planEviction(byMemory, residents.map(toResident), this.#limits);
        if (plan.kind === "fits") return;
        if (plan.kind === "never") throw noMemory(byMemory, this.#limits);
        for (const { slot } of plan.evict) slot.evict();
        await this.nextChange(signal);
      }
    } finally {
      for (const slot of slots()) slot.keep(); // whoever has not left yet may stay
    }
  }
}

/** The slot as who plans the room sees it. */
export function toResident(slot: ModelSlot): ResidentSlot {
  const { kind } = slot.state;
  const { byMemory, isPinned, leases, usedAt } = slot;
  return { slot, byMemory, isPinned, isLeaving: kind === "draining" || kind === "unloading", leases, usedAt };
}

async function bothOf(first: Promise<void>, second: Promise<void>): Promise<void> {
  await first;
  await second;
}
