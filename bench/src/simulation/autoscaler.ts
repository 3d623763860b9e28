// The number of replicas, as Kubernetes' HorizontalPodAutoscaler decides it (KEDA passes its triggers to one). A function of the
// metrics and its own history of recommendations: no clock.
import { z } from "zod";

const Count = z.int().nonnegative();
const Seconds = z.number().positive();

const Rules = z.strictObject({
  minReplicas: z.int().positive(),
  maxReplicas: z.int().positive(),
  /** Target of waiting requests per replica (AverageValue); 0 ignores this metric. */
  waitingPerReplica: z.number().nonnegative(),
  /** The same for requests in flight. */
  inFlightPerReplica: z.number().nonnegative().default(0),
  /** Target percentage of KV cache in use, averaged over replicas (Value); 0 ignores this metric. */
  kvUsagePercent: z.number().min(0).max(100),
  /** Interval of decisions, and age of the metrics: the scrape interval of Prometheus and KEDA's polling. */
  syncSeconds: Seconds.default(15),
  metricAgeSeconds: z.number().nonnegative().default(15),
  /** No change while the desired number is within this fraction of the current one. */
  tolerance: z.number().nonnegative().default(0.1),
  /** Maximum increase per period, as a number or as a percentage: whichever is more. */
  scaleUp: z
    .strictObject({ pods: Count, percent: Count, periodSeconds: Seconds })
    .default({ pods: 4, percent: 100, periodSeconds: 15 }),
  /**
   * Maximum decrease per period, as a number or as a percentage, whichever is more; only after the smaller number was enough for
   * the window.
   */
  scaleDown: z
    .strictObject({
      windowSeconds: z.number().nonnegative(),
      pods: Count.default(0),
      percent: Count.default(0),
      periodSeconds: Seconds,
    })
    .default({ windowSeconds: 300, pods: 0, percent: 100, periodSeconds: 15 }),
});

export const AutoscalingRules = Rules.refine(
  ({ minReplicas, maxReplicas }) => minReplicas <= maxReplicas,
  "minReplicas is larger than maxReplicas",
).refine(
  ({ minReplicas, maxReplicas, waitingPerReplica, inFlightPerReplica, kvUsagePercent }) =>
    minReplicas === maxReplicas || waitingPerReplica + inFlightPerReplica + kvUsagePercent > 0,
  "no metric decides: set waitingPerReplica, inFlightPerReplica or kvUsagePercent",
);
export type AutoscalingRules = z.infer<typeof AutoscalingRules>;

/** Metrics of all ready replicas together. */
export interface ClusterFigures {
  waiting: number;
  running: number;
  /** 0 to 1, their mean. */
  kvUse: number;
  ready: number;
}

/** A number of replicas, recommended or actual, and when, in seconds. */
interface Remembered {
  at: number;
  replicas: number;
}

export class Autoscaler {
  readonly #rules: AutoscalingRules;
  #recommended: Remembered[] = [];
  /** The number before each decision. */
  #sizes: Remembered[] = [];

  constructor(rules: AutoscalingRules) {
    this.#rules = rules;
  }

  /** The desired number of replicas. `current` includes those that are still starting. */
  decide(atSeconds: number, current: number, figures: ClusterFigures): number {
    const { minReplicas, maxReplicas, scaleDown } = this.#rules;
    const recommended = this.#recommend(current, figures);
    this.#recommended.push({ at: atSeconds, replicas: recommended });
    this.#recommended = this.#recommended.filter(({ at }) => at >= atSeconds - scaleDown.windowSeconds);
    const stable =
      recommended >= current
        ? recommended
        : Math.min(current, Math.max(...this.#recommended.map(({ replicas }) => replicas)));
    const limited = this.#limited(atSeconds, current, stable);
    const memory = Math.max(scaleDown.periodSeconds, this.#rules.scaleUp.periodSeconds);
    this.#sizes = this.#sizes.filter(({ at }) => at > atSeconds - memory);
    this.#sizes.push({ at: atSeconds, replicas: current });
    return Math.min(Math.max(limited, minReplicas), maxReplicas);
  }

  /** The largest number that one of the metrics asks for. */
  #recommend(current: number, { waiting, running, kvUse, ready }: ClusterFigures): number {
    const { waitingPerReplica, inFlightPerReplica, kvUsagePercent, tolerance } = this.#rules;
    const asked: number[] = [];
    const ask = (wanted: number): void => {
      const isNear = Math.abs(wanted / current - 1) <= tolerance;
      asked.push(isNear ? current : Math.ceil(wanted - 1e-9));
    };
    if (waitingPerReplica > 0) ask(waiting / waitingPerReplica);
    if (inFlightPerReplica > 0) ask((waiting + running) / inFlightPerReplica);
    if (kvUsagePercent > 0) ask((ready * kvUse * 100) / kvUsagePercent);
    return Math.max(...asked);
  }

  #limited(atSeconds: number, current: number, wanted: number): number {
    const { scaleUp, scaleDown } = this.#rules;
    const before = (seconds: number): number =>
      this.#sizes.find(({ at }) => at > atSeconds - seconds)?.replicas ?? current;
    if (wanted > current) {
      const start = before(scaleUp.periodSeconds);
      return Math.min(wanted, Math.max(start + scaleUp.pods, Math.ceil(start * (1 + scaleUp.percent / 100))));
    }
    const start = before(scaleDown.periodSeconds);
    const limit = Math.min(start - scaleDown.pods, Math.floor(start * (1 - scaleDown.percent / 100)));
    return Math.max(wanted, Math.min(limit, current));
  }
}
