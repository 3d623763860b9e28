// Decides which models to evict for one more: the least recently used of the idle ones first, then those in use, which are freed
// when their leases end. A pure function; memory-planner.ts carries out the plan.
import { addMemory, fitsInto, type MemoryBudget, type MemoryBytes } from "@ingle/engine";

/** A model that takes memory. */
export interface Resident {
  readonly byMemory: MemoryBytes;
  /** Whether it is never evicted. */
  readonly isPinned: boolean;
  /** Whether it is already being freed. */
  readonly isLeaving: boolean;
  /** Number of held leases. */
  readonly leases: number;
  /** Grows with each use of any model. */
  readonly lastUse: number;
}

export interface MemoryLimits {
  /** Absent: memory is unknown and unlimited. */
  budget?: MemoryBudget | undefined;
  /** Maximum number of models in memory at the same time. */
  loadedMax?: number | undefined;
}

type EvictionPlan<T extends Resident> =
  | { kind: "fits" }
  /** It fits once these models and those that are being freed are gone. */
  | { kind: "waits"; evict: T[] }
  /** It does not fit beside the pinned models. */
  | { kind: "never" };

export function planEviction<T extends Resident>(
  byMemory: MemoryBytes,
  residents: readonly T[],
  limits: MemoryLimits,
): EvictionPlan<T> {
  const fits = (beside: readonly Resident[]): boolean =>
    beside.length < (limits.loadedMax ?? Infinity) &&
    (limits.budget === undefined ||
      fitsInto(addMemory(byMemory, ...beside.map((each) => each.byMemory)), limits.budget));
  if (fits(residents)) return { kind: "fits" };

  let staying = residents.filter(({ isLeaving }) => !isLeaving);
  const evict: T[] = [];
  const candidates = staying.filter(({ isPinned }) => !isPinned).toSorted(leastMissedFirst);
  for (const candidate of candidates) {
    if (fits(staying)) break;
    evict.push(candidate);
    staying = staying.filter((each) => each !== candidate);
  }
  if (!fits(staying)) return { kind: "never" };
  // A large model may have made evicting smaller ones before it unnecessary: of those, the most recently used stay.
  for (const candidate of evict.toReversed()) {
    if (!fits([...staying, candidate])) continue;
    staying = [...staying, candidate];
    evict.splice(evict.indexOf(candidate), 1);
  }
  return { kind: "waits", evict };
}

/** Idle models before those in use, the least recently used first. */
function leastMissedFirst(a: Resident, b: Resident): number {
  const [isBusyA, isBusyB] = [a.leases > 0, b.leases > 0];
  return isBusyA === isBusyB ? a.lastUse - b.lastUse : Number(isBusyA) - Number(isBusyB);
}
