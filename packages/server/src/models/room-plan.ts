// Who has to leave so that one more model has room: the least recently used that nobody uses, then those that somebody
// does, as soon as they are done. A function of its input; room.ts does what it says.
import { addMemory, fitsInto, type MemoryBudget, type MemoryBytes } from "@ingle/engine";

/** A model that takes memory. */
export interface Occupant {
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

export interface RoomLimits {
  /** Absent: nothing is known about the memory, and nothing refused for it. */
  budget?: MemoryBudget | undefined;
  /** Most models at the same time. */
  loadedMax?: number | undefined;
}

export type RoomPlan<T extends Occupant> =
  | { kind: "fits" }
  /** There is room once these have left, and those that are leaving. */
  | { kind: "waits"; evict: T[] }
  /** Not even then. */
  | { kind: "never" };

export function planRoom<T extends Occupant>(
  byMemory: MemoryBytes,
  occupants: readonly T[],
  limits: RoomLimits,
): RoomPlan<T> {
  const hasRoom = (beside: readonly Occupant[]): boolean =>
    beside.length < (limits.loadedMax ?? Infinity) &&
    (limits.budget === undefined ||
      fitsInto(addMemory(byMemory, ...beside.map((each) => each.byMemory)), limits.budget));
  if (hasRoom(occupants)) return { kind: "fits" };

  let staying = occupants.filter(({ isLeaving }) => !isLeaving);
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
function byWorth(a: Occupant, b: Occupant): number {
  const [isBusyA, isBusyB] = [a.leases > 0, b.leases > 0];
  return isBusyA === isBusyB ? a.usedAt - b.usedAt : Number(isBusyA) - Number(isBusyB);
}
