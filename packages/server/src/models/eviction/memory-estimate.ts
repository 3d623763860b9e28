// Estimates the memory for loading a model and whether it fits beside the loaded ones, in words.
import prettyBytes from "pretty-bytes";
import { sumBytes, type MemoryForecast } from "@ingle/engine";
import type { MemoryEstimate } from "@ingle/protocol";
import { WireError } from "../../wire-error.ts";
import { settingsOver, type LoadSettings } from "../slot/load-settings.ts";
import type { ModelSlot } from "../slot/model-slot.ts";
import { takesMemory } from "../slot/model-state.ts";
import type { ModelRegistry } from "../registry.ts";
import { planEviction, type MemoryLimits } from "./eviction-plan.ts";
import { toResident } from "./memory-planner.ts";

/** Maximum number of waiting estimates: a page requests one for each model of a list. */
const waitingMax = 64;

/** The estimates of one server, computed one after the other: each measures the model several times. */
export class MemoryEstimates {
  readonly #registry: ModelRegistry;
  #queue: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(registry: ModelRegistry) {
    this.#registry = registry;
  }

  /**
   * Loads nothing. `settings` are those of the load request. Throws `invalid_request` for a model without a
   * forecast, `overloaded`, and what reading the model's file throws.
   */
  async of(
    slot: ModelSlot,
    settings: LoadSettings | undefined,
    signal: AbortSignal,
  ): Promise<MemoryEstimate> {
    if (this.#waiting >= waitingMax)
      throw new WireError("overloaded", "Too many estimates are waiting; try again shortly.");
    this.#waiting += 1;
    const before = this.#queue;
    const mine = (async () => {
      await before;
      return await this.#estimate(slot, settings, signal);
    })();
    this.#queue = mine.catch(() => {});
    try {
      return await mine;
    } finally {
      this.#waiting -= 1;
    }
  }

  async #estimate(
    slot: ModelSlot,
    requested: LoadSettings | undefined,
    signal: AbortSignal,
  ): Promise<MemoryEstimate> {
    signal.throwIfAborted();
    const { known, id } = slot;
    if (known.forecast === undefined) {
      const message = `The memory that the model ${id} needs is known only once it is loaded.`;
      throw new WireError("invalid_request", message, { param: "model" });
    }
    const { limits } = this.#registry;
    const settings = settingsOver(requested, slot.requestedSettings ?? {});
    const { budget } = limits;
    const left = this.#registry.leftFor(slot);
    const forecast = await known.forecast({ budget, left, settings, signal });
    const others = this.#registry.slots.filter((each) => each !== slot && takesMemory(each.state));
    const { kvBitsK = 16, kvBitsV = 16 } = settingsOver(settings, known.settings ?? {});
    return {
      model: id,
      ...decideFit(forecast, others, limits),
      memory_bytes: sumBytes(forecast.footprint.byMemory),
      available_bytes: availableBytes(others, limits),
      context_length: forecast.contextLength,
      context_length_max: forecast.contextLengthMax,
      kv_bytes_per_token: forecast.kvBytesPerToken,
      kv_bits_k: kvBitsK,
      kv_bits_v: kvBitsV,
    };
  }
}

/** The part of the budget that other models leave. */
function availableBytes(others: readonly ModelSlot[], { budget }: MemoryLimits): number | null {
  if (budget === undefined) return null;
  const used = others.reduce((sum, { byMemory }) => sum + sumBytes(byMemory), 0);
  return Math.max(0, (budget.totalBytes ?? sumBytes(budget.byMemory)) - used);
}

function decideFit(
  forecast: MemoryForecast,
  others: readonly ModelSlot[],
  limits: MemoryLimits,
): Pick<MemoryEstimate, "fits" | "reason"> {
  const { footprint, isReduced, refusal, contextLength } = forecast;
  if (refusal !== undefined) return { fits: "no", reason: refusal.message };
  const plan = planEviction(footprint.byMemory, others.map(toResident), limits);
  const needed = prettyBytes(sumBytes(footprint.byMemory), { binary: true });
  if (plan.kind === "never") {
    const pinned = others.filter(({ isPinned }) => isPinned).map(({ id }) => id);
    return {
      fits: "no",
      reason: `It needs ${needed}, and pinned models are not evicted: ${pinned.join(", ")}.`,
    };
  }
  const shorter = isReduced
    ? `Memory is short: a context of ${contextLength.toLocaleString("en-US")} tokens fits, with ${needed} in all.`
    : `It needs ${needed}.`;
  if (plan.kind === "waits") {
    const evicted = plan.evict.map(({ model }) => model.id);
    const leaving = others.filter(({ state }) => state.kind === "draining" || state.kind === "unloading");
    const freed = [...evicted, ...leaving.map(({ id }) => id)].join(", ");
    return { fits: "tight", reason: `${shorter} Other models are evicted for it: ${freed}.` };
  }
  if (isReduced) return { fits: "tight", reason: shorter };
  const available = availableBytes(others, limits);
  const rest = available === null ? "" : ` Models may take ${prettyBytes(available, { binary: true })} more.`;
  return { fits: "yes", reason: shorter + rest };
}
