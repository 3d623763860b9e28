// A simulated cluster: requests arrive, a router sends them to replicas, an autoscaler changes their number. This is the only
// loop that advances time.
import { z } from "zod";
import { Autoscaler, AutoscalingRules, type ClusterFigures } from "./autoscaler.ts";
import { Durations } from "./durations.ts";
import { EventHeap } from "./event-heap.ts";
import { createRouter, ReadyReplicas, routingNames, type Router } from "./routing.ts";
import type { ServiceTimes } from "./service-times.ts";
import { toRequest, SimulatedReplica, type Request } from "./simulated-replica.ts";
import { TimeLine } from "./time-line.ts";
import type { Source } from "./workload.ts";

export const ClusterRules = z.strictObject({
  routing: z.enum(routingNames).default("session"),
  /** With routing by session: a replica with this many waiting requests is skipped. Default: never. */
  spillAt: z.int().positive().default(1_000_000),
  /** Maximum waiting requests per replica; one more is refused (429), and its conversation ends. */
  waitingMax: z.int().nonnegative().default(256),
  /** Capacity of a replica's host KV tier, in tokens (`--cache-ram`). */
  hostTokens: z.int().nonnegative().default(0),
  /** From the decision for one more replica to its first request: machine, image, model. */
  coldStartSeconds: z.number().nonnegative().default(60),
  autoscaling: AutoscalingRules,
});
export type ClusterRules = z.infer<typeof ClusterRules>;

/** Rules of a cluster that always has this many replicas. */
export function fixedReplicas(
  replicas: number,
  others: Omit<z.input<typeof ClusterRules>, "autoscaling"> = {},
): ClusterRules {
  const count = { minReplicas: replicas, maxReplicas: replicas };
  return ClusterRules.parse({
    ...others,
    autoscaling: { ...count, waitingPerReplica: 1, kvUsagePercent: 0 },
  });
}

/** A request that ended. Times are milliseconds; those without `At` are relative to its arrival. */
export interface EndedRequest {
  arrivedAt: number;
  /** In the waiting queue. */
  waitedMs: number;
  firstMs: number;
  totalMs: number;
  replica: number;
}

export interface Outcome {
  /** Requests that ended, and those that were refused because a queue was full. */
  requests: number;
  refused: number;
  waited: Durations;
  first: Durations;
  total: Durations;
  /** Including replicas that are starting or finishing their last replies. */
  replicaHours: number;
  replicasMost: number;
  promptTokens: number;
  cachedTokens: number;
}

interface SimulationOptions {
  service: ServiceTimes;
  rules: ClusterRules;
  source: Source;
  /** First tokens that all prompts share. Default 0. */
  sharedTokens?: number;
  onEnd?: (request: EndedRequest) => void;
}

const hourMs = 3_600_000;

/** Simulates all requests to their end. */
export function simulate(options: SimulationOptions): Outcome {
  return new Simulation(options).run();
}

class Simulation {
  readonly #options: SimulationOptions;
  readonly #replicas: readonly SimulatedReplica[];
  readonly #ready: ReadyReplicas;
  readonly #router: Router;
  readonly #autoscaler: Autoscaler;
  /** The next event of each replica. */
  readonly #events: EventHeap;
  readonly #starting = new TimeLine<number>();
  /** Number of starting replicas that are no longer needed: that many of the next ones stop when they are ready. */
  #unwanted = 0;
  readonly #off: number[] = [];
  readonly #outcome: Outcome;
  /** The delayed metrics that the autoscaler decides by. */
  #seen: ClusterFigures = { waiting: 0, running: 0, kvUse: 0, ready: 0 };
  #billed = { until: 0, replicas: 0 };

  constructor(options: SimulationOptions) {
    this.#options = options;
    const { service, rules, sharedTokens = 0 } = options;
    const { maxReplicas, minReplicas } = rules.autoscaling;
    const ofReplica = { service, hostTokens: rules.hostTokens, sharedTokens };
    this.#replicas = Array.from({ length: maxReplicas }, (_, id) => new SimulatedReplica(id, ofReplica));
    this.#ready = new ReadyReplicas(maxReplicas);
    this.#events = new EventHeap(maxReplicas);
    const { routing, spillAt } = rules;
    this.#router = createRouter(routing, { ready: this.#ready, replicas: this.#replicas, spillAt });
    this.#autoscaler = new Autoscaler(rules.autoscaling);
    for (let id = maxReplicas - 1; id >= minReplicas; id -= 1) this.#off.push(id);
    for (let id = 0; id < minReplicas; id += 1) this.#ready.add(id, 0);
    const none = {
      requests: 0,
      refused: 0,
      replicaHours: 0,
      replicasMost: 0,
      promptTokens: 0,
      cachedTokens: 0,
    };
    this.#outcome = { ...none, waited: new Durations(), first: new Durations(), total: new Durations() };
    this.#bill(0, minReplicas);
  }

  run(): Outcome {
    const { source, rules } = this.#options;
    const { minReplicas, maxReplicas, syncSeconds, metricAgeSeconds } = rules.autoscaling;
    const doesScale = minReplicas < maxReplicas;
    const syncMs = syncSeconds * 1000;
    let decideAt = doesScale ? syncMs : Infinity;
    let lookAt = doesScale ? syncMs - Math.min(metricAgeSeconds, syncSeconds) * 1000 : Infinity;
    let now = 0;
    for (;;) {
      const busyAt = Math.min(source.time, this.#events.time);
      if (busyAt === Infinity) break; // no more requests and nothing running
      now = Math.min(busyAt, lookAt, decideAt, this.#starting.time);
      if (now === this.#starting.time) this.#becomeReady(now);
      else if (now === decideAt) {
        this.#scale(now, metricAgeSeconds === 0 ? this.#figures() : this.#seen);
        decideAt += syncMs;
      } else if (now === lookAt) {
        this.#seen = this.#figures();
        lookAt += syncMs;
      } else if (now === this.#events.time) this.#advance(this.#events.next, now);
      else this.#ask(now);
    }
    this.#bill(now, 0);
    return this.#outcome;
  }

  #ask(now: number): void {
    const { source, rules } = this.#options;
    const message = source.take();
    if (message === undefined) return;
    const id = this.#router(message.session);
    const replica = this.#replicas[id];
    if (replica === undefined || replica.waiting >= rules.waitingMax) {
      this.#outcome.refused += 1;
      source.refused(message.session);
      return;
    }
    replica.arrive(toRequest(message, now));
    this.#hasChanged(replica);
  }

  #advance(id: number, now: number): void {
    const replica = this.#replicas[id];
    if (replica === undefined) return;
    replica.happen(now, (request) => this.#end(request, id, now));
    this.#hasChanged(replica);
    if (!this.#ready.has(id) && replica.running + replica.waiting === 0) this.#stop(replica, now);
  }

  #end(request: Request, replica: number, now: number): void {
    const { source, onEnd } = this.#options;
    const { arrivedAt, startedAt, firstAt, promptTokens, cachedTokens } = request;
    const waitedMs = startedAt - arrivedAt;
    const firstMs = firstAt - arrivedAt;
    const totalMs = now - arrivedAt;
    this.#outcome.requests += 1;
    this.#outcome.waited.add(waitedMs);
    this.#outcome.first.add(firstMs);
    this.#outcome.total.add(totalMs);
    this.#outcome.promptTokens += promptTokens;
    this.#outcome.cachedTokens += cachedTokens;
    onEnd?.({ arrivedAt, waitedMs, firstMs, totalMs, replica });
    source.replied(request.session, now);
  }

  #hasChanged(replica: SimulatedReplica): void {
    this.#events.set(replica.id, replica.nextAt);
    this.#ready.setLoad(replica.id, replica.running + replica.waiting);
  }

  /** Of the replicas that take requests. */
  #figures(): ClusterFigures {
    const figures = { waiting: 0, running: 0, kvUse: 0, ready: this.#ready.count };
    for (let index = 0; index < figures.ready; index += 1) {
      const replica = this.#replicas[this.#ready.at(index)];
      figures.waiting += replica?.waiting ?? 0;
      figures.running += replica?.running ?? 0;
      figures.kvUse += (replica?.kvUse ?? 0) / figures.ready;
    }
    return figures;
  }

  #scale(now: number, figures: ClusterFigures): void {
    const current = this.#ready.count + this.#starting.length - this.#unwanted;
    const wanted = this.#autoscaler.decide(now / 1000, current, figures);
    for (let count = current; count < wanted; count += 1) this.#start(now);
    for (let count = current; count > wanted; count -= 1) this.#drain(now);
  }

  #start(now: number): void {
    if (this.#unwanted > 0) {
      this.#unwanted -= 1;
      return;
    }
    const id = this.#off.pop();
    if (id === undefined) return; // all others still finish their last replies
    this.#bill(now, this.#billed.replicas + 1);
    this.#starting.add(now + this.#options.rules.coldStartSeconds * 1000, id);
  }

  #becomeReady(now: number): void {
    const id = this.#starting.take();
    const replica = this.#replicas[id ?? -1];
    if (replica === undefined) return;
    if (this.#unwanted > 0) {
      this.#unwanted -= 1;
      this.#stop(replica, now);
    } else this.#ready.add(replica.id, 0);
  }

  /** Removes a replica: one that is still starting, or else the youngest, which finishes its replies. */
  #drain(now: number): void {
    if (this.#starting.length > this.#unwanted) {
      this.#unwanted += 1;
      return;
    }
    const id = this.#ready.at(this.#ready.count - 1);
    const replica = this.#replicas[id];
    if (replica === undefined) return;
    this.#ready.remove(id);
    if (replica.running + replica.waiting === 0) this.#stop(replica, now);
  }

  #stop(replica: SimulatedReplica, now: number): void {
    replica.forget();
    this.#off.push(replica.id);
    this.#bill(now, this.#billed.replicas - 1);
  }

  #bill(now: number, replicas: number): void {
    this.#outcome.replicaHours += (this.#billed.replicas * (now - this.#billed.until)) / hourMs;
    this.#outcome.replicasMost = Math.max(this.#outcome.replicasMost, replicas);
    this.#billed = { until: now, replicas };
  }
}
