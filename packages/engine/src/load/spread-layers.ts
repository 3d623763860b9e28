// Spreads a model's layers over several GPUs: in proportion to the memory that each may take, and then from those that are too full to
// those with space left. It only asks what a spread would take.
import { fitsInto, type MemoryBudget } from "../machine/memory.ts";
import type { MemoryBytes } from "../base/memory-bytes.ts";

/** Layers of each GPU; they are passed to `load()` as shares. */
export type LayerCounts = readonly number[];

interface SpreadRequest {
  /** The GPUs that get layers, in their order. */
  gpus: readonly string[];
  /** How many layers they get together, the output included. */
  layers: number;
  budget: MemoryBudget;
}

/** Each one asks llama.cpp for the model's layout. */
const triesMax = 4;

/** The first spread that fits; the last one that was tried if none does. */
export async function spreadLayers<T extends { byMemory: MemoryBytes }>(
  takes: (counts: LayerCounts) => Promise<T>,
  { gpus, layers, budget }: SpreadRequest,
): Promise<T & { tensorSplit: LayerCounts }> {
  const limits = gpus.map((gpu) => budget.byMemory[gpu] ?? 0);
  let counts = proportional(layers, limits);
  for (let tries = 1; ; tries += 1) {
    const taken = await takes(counts);
    const used = gpus.map((gpu) => taken.byMemory[gpu] ?? 0);
    const next = fitsInto(taken.byMemory, budget) ? undefined : moved(counts, used, limits);
    if (next === undefined || tries === triesMax) return { ...taken, tensorSplit: counts };
    counts = next;
  }
}

/** Equal shares if none has any memory. */
function proportional(layers: number, limits: readonly number[]): LayerCounts {
  const total = sum(limits);
  let before = 0;
  let given = 0;
  return limits.map((limit) => {
    before += total > 0 ? limit / total : 1 / limits.length;
    const count = Math.round(before * layers) - given;
    given += count;
    return count;
  });
}

/** The same number of layers, with fewer on each GPU that is too full; undefined if the others have no space for them. */
function moved(
  counts: LayerCounts,
  used: readonly number[],
  limits: readonly number[],
): LayerCounts | undefined {
  if (used.every((bytes, at) => bytes <= (limits[at] ?? 0))) return undefined; // another memory is too small
  const average = Math.max(1, sum(used) / sum(counts));
  const layerBytes = counts.map((count, at) => (count > 0 ? Math.max(1, (used[at] ?? 0) / count) : average));
  const next = counts.map((count, at) => {
    const spare = Math.floor(((limits[at] ?? 0) - (used[at] ?? 0)) / (layerBytes[at] ?? average));
    return Math.max(0, count + Math.min(spare, sum(counts)));
  });
  // Now each GPU has as many as it can hold: the surplus leaves those with the most space.
  let surplus = sum(next) - sum(counts);
  if (surplus < 0) return undefined;
  while (surplus > 0) {
    const spaces = next.map((count, at) => count - (counts[at] ?? 0));
    const roomiest = spaces.indexOf(Math.max(...spaces));
    next[roomiest] = (next[roomiest] ?? 0) - 1;
    surplus -= 1;
  }
  return next.every((count, at) => count === counts[at]) ? undefined : next;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
