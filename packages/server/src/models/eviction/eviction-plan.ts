// Who has to leave so that one more model has room: the least recently used that nobody uses, then those that somebody
// does, as soon as they are done. A function of its input; room.ts does what it says.
import { addMemory, fitsInto, type MemoryBudget, type MemoryBytes } from "@ingle/engine";

/** A model that takes memory. */
export interface Resident {
  readonly byMemory: MemoryBytes;
  /** May not be asked to leave. */
  readonly isPinned: boolean;
  /** On its way out already. */
  readonly isLeaving: boolean;
  /** Leases that are held. */
  readonly leases: number;
  /** The larger, the later it was used. */
  readonly usedAt: number;
}

export interface MemoryLimits {
  /** Absent: nothing is known about the memory, and nothing refused for it. */
  budget?: MemoryBudget | undefined;
  /** Most models at the same time. */
  loadedMax?: number | undefined;
}

export type EvictionPlan<T extends Resident> =
  | { kind: "fits" }
  /** There is room once these have left, and those that are leaving. */
  | { kind: "waits"; evict: T[] }
  /** Not even then. */
  | { kind: "never" };

export function planEviction<T extends Resident>(
  byMemory: MemoryBytes,
  residents: readonly T[],
  limits: MemoryLimits,
): EvictionPlan<T> {
  const hasRoom = (beside: readonly Resident[]): boolean =>
    beside.length < (limits.loadedMax ?? Infinity) &&
    (limits.budget === undefined ||
      fitsInto(addMemory(byMemory, ...beside.map((each) => each.byMemory)), limits.budget));
  if (hasRoom(residents)) return { kind: "fits" };

  let staying = residents.filter(({ isLeaving }) => !isLeaving);
  const evict: T[] = [];
  const candidates = staying.filter(({ isPinned }) => !isPinned).toSorted(byWorth);
  for (const candidate of candidates) {
    if (hasRoom(staying)) break;
    evict.push(candidate);
    staying = staying.filter((each) => each !== candidate);
  }
  if (!hasRoom(staying)) return { kind: "never" };
  // A large one may have made the small ones before it unnecessary: the most worthy of them stay.
  for (const candidate of evict.toReversed()) {
    if (!hasRoom([...staying, candidate])) continue;
    staying = [...staying, candidate];
    evict.splice(evict.indexOf(candidate), 1);
  }
  return { kind: "waits", evict };
}

/** The one that is missed least comes first. */
function byWorth(a: Resident, b: Resident): number {
  const [isBusyA, isBusyB] = [a.leases > 0, b.leases > 0];
  return isBusyA === isBusyB ? a.usedAt - b.usedAt : Number(isBusyA) - Number(isBusyB);
}
