// Metrics whose values are gathered at each scrape.
import { Counter, Gauge, type Registry } from "prom-client";

type Labels = Readonly<Record<string, string | number>>;

/** A metric with one value, or with one for each combination of labels. */
type Values = number | readonly (readonly [labels: Labels, value: number])[];

interface CollectedMetric {
  readonly kind?: "gauge" | "counter";
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  readonly values: () => Values | Promise<Values>;
}

/** Default: a gauge without labels. */
export function addCollected(register: Registry, metric: CollectedMetric): void {
  const { kind = "gauge", name, help, labelNames = [], values } = metric;
  const Kind = kind === "gauge" ? Gauge : Counter;
  const collected: Gauge | Counter = new Kind({
    name,
    help,
    labelNames: [...labelNames],
    registers: [],
    collect: async () => {
      const now = await values();
      collected.reset();
      if (typeof now === "number") collected.inc(now);
      else for (const [labels, value] of now) collected.inc(labels, value);
    },
  });
  register.registerMetric(collected);
}

/**
 * Gathers values once for all metrics of a scrape: a registry calls the collect functions of its metrics one after the other,
 * without waiting in between.
 */
export function oncePerScrape<T>(gather: () => T): () => T {
  let gathered: { value: T } | undefined;
  return () => {
    if (gathered === undefined) queueMicrotask(() => (gathered = undefined));
    gathered ??= { value: gather() };
    return gathered.value;
  };
}
