// Routing policies of proxies and gateways. Each policy considers only replicas that accept requests.
import type { SimulatedReplica } from "./simulated-replica.ts";

export const routingNames = ["round-robin", "least-loaded", "session"] as const;
export type RoutingName = (typeof routingNames)[number];

/** Points of each replica on the consistent hashing ring: sessions are then spread evenly to within a few percent. */
const pointsPerReplica = 64;

/** The replicas of a cluster that accept requests. Numbers are replica ids. */
export class ReadyReplicas {
  readonly #ready: number[] = [];
  /** Position of each in the list; -1 if it accepts no requests. */
  readonly #where: Int32Array;
  readonly #load: Int32Array;
  /** The replicas by load, and the position of each among those with the same load. */
  readonly #byLoad: number[][] = [];
  readonly #whereByLoad: Int32Array;
  #leastLoad = 0;

  constructor(replicasMax: number) {
    this.#where = new Int32Array(replicasMax).fill(-1);
    this.#load = new Int32Array(replicasMax);
    this.#whereByLoad = new Int32Array(replicasMax);
  }

  get count(): number {
    return this.#ready.length;
  }

  has(id: number): boolean {
    return (this.#where[id] ?? -1) >= 0;
  }

  /** The replica at a position of the list, modulo its length. */
  at(index: number): number {
    return this.#ready[index % this.#ready.length] ?? -1;
  }

  add(id: number, load: number): void {
    this.#where[id] = this.#ready.length;
    this.#ready.push(id);
    this.#enter(id, load);
  }

  remove(id: number): void {
    const place = this.#where[id] ?? -1;
    const last = this.#ready.pop();
    if (last === undefined || place < 0) return;
    if (last !== id) {
      this.#ready[place] = last;
      this.#where[last] = place;
    }
    this.#where[id] = -1;
    this.#leave(id);
  }

  /** Updates the number of a replica's requests. */
  setLoad(id: number, load: number): void {
    if (!this.has(id) || this.#load[id] === load) return;
    this.#leave(id);
    this.#enter(id, load);
  }

  /** A replica with the fewest requests. */
  leastLoaded(): number {
    while (this.#leastLoad < this.#byLoad.length && (this.#byLoad[this.#leastLoad]?.length ?? 0) === 0)
      this.#leastLoad += 1;
    return this.#byLoad[this.#leastLoad]?.at(-1) ?? -1;
  }

  #enter(id: number, load: number): void {
    while (this.#byLoad.length <= load) this.#byLoad.push([]);
    const equal = this.#byLoad[load] ?? [];
    this.#load[id] = load;
    this.#whereByLoad[id] = equal.length;
    equal.push(id);
    this.#leastLoad = Math.min(this.#leastLoad, load);
  }

  #leave(id: number): void {
    const equal = this.#byLoad[this.#load[id] ?? 0] ?? [];
    const place = this.#whereByLoad[id] ?? 0;
    const last = equal.pop();
    if (last === undefined || last === id) return;
    equal[place] = last;
    this.#whereByLoad[last] = place;
  }
}

export type Router = (session: number) => number;

/**
 * A policy over the ready replicas. With `session`, a replica with `spillAt` waiting requests is skipped in favour of the least
 * loaded one.
 */
export function createRouter(
  name: RoutingName,
  {
    ready,
    replicas,
    spillAt,
  }: { ready: ReadyReplicas; replicas: readonly SimulatedReplica[]; spillAt: number },
): Router {
  switch (name) {
    case "round-robin": {
      let turn = 0;
      return () => ready.at((turn += 1));
    }
    case "least-loaded":
      return () => ready.leastLoaded();
    case "session": {
      const ring = hashRing(replicas.length);
      return (session) => {
        const chosen = ring(session, (id) => ready.has(id));
        return (replicas[chosen]?.waiting ?? 0) >= spillAt ? ready.leastLoaded() : chosen;
      };
    }
  }
}

/** Consistent hashing: the first accepted replica after the session's point. */
function hashRing(count: number): (session: number, passes: (id: number) => boolean) => number {
  const points = Array.from({ length: count * pointsPerReplica }, (_, index) => ({
    point: mixed(index + 1),
    id: Math.floor(index / pointsPerReplica),
  })).toSorted((a, b) => a.point - b.point);
  const places = Float64Array.from(points, ({ point }) => point);
  const owners = Int32Array.from(points, ({ id }) => id);
  return (session, passes) => {
    const wanted = mixed(session + 0x9e3779b9);
    let [low, high] = [0, places.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((places[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    for (let step = 0; step < owners.length; step += 1) {
      const id = owners[(low + step) % owners.length] ?? -1;
      if (passes(id)) return id;
    }
    return -1;
  };
}

/** Murmur3's finalizer: a bijective 32-bit hash. */
function mixed(value: number): number {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
