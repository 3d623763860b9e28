// The same under the names that gateways, routers and autoscalers know from vLLM: `--metrics-compat vllm`. Those of today are what
// the Gateway API Inference Extension and llm-d read (its proposal 003), the older `gpu_…` what the router of vLLM's production
// stack reads (src/vllm_router/stats/engine_stats.py).
import { kvBlockTokens } from "@ingle/engine";
import { Counter, Gauge, type Registry } from "prom-client";
import type { EngineStats } from "../models/slot/engine-stats.ts";
import type { ModelRegistry } from "../models/registry.ts";
import { kvUsage, oncePerScrape } from "./engine-metrics.ts";
import type { RequestMetrics } from "./request-metrics.ts";

/** A model at the moment of a scrape. */
interface Sample {
  readonly model_name: string;
  readonly figures: EngineStats;
  /** Tokens of prompts that did not have to be computed, and all of them. */
  readonly hits: number;
  readonly queries: number;
}

interface Described {
  readonly name: string;
  readonly help: string;
  readonly value: (sample: Sample) => number;
}

const gauges: readonly Described[] = [
  { name: "num_requests_running", help: "ingle_requests_running.", value: ({ figures }) => figures.running },
  { name: "num_requests_waiting", help: "ingle_requests_waiting.", value: ({ figures }) => figures.waiting },
  { name: "kv_cache_usage_perc", help: "ingle_kv_usage_ratio.", value: ({ figures }) => kvUsage(figures) },
  { name: "gpu_cache_usage_perc", help: "ingle_kv_usage_ratio.", value: ({ figures }) => kvUsage(figures) },
  {
    name: "gpu_prefix_cache_hit_rate",
    help: "Tokens of prompts that did not have to be computed, divided by all of them: 0 to 1.",
    value: ({ hits, queries }) => (queries > 0 ? hits / queries : 0),
  },
];

const counters: readonly Described[] = [
  {
    name: "gpu_prefix_cache_hits_total",
    help: "Tokens of prompts that did not have to be computed.",
    value: ({ hits }) => hits,
  },
  {
    name: "gpu_prefix_cache_queries_total",
    help: "Tokens of prompts, computed or not.",
    value: ({ queries }) => queries,
  },
];

export function addVllmMetrics(register: Registry, models: ModelRegistry, requests: RequestMetrics): void {
  const samples = oncePerScrape(async (): Promise<Sample[]> => {
    const cached = await requests.cachedTokens();
    return sampledSlots(models).map((slot) => {
      const figures = slot.stats();
      const hits = cached.get(slot.id) ?? 0;
      return { model_name: slot.id, figures, hits, queries: hits + figures.promptTokens };
    });
  });
  const labelNames = ["model_name"];
  const add = (kind: typeof Counter | typeof Gauge, { name, help, value }: Described): void => {
    const metric: Counter | Gauge = new kind({
      name: `vllm:${name}`,
      help,
      labelNames,
      registers: [],
      async collect() {
        const all = await samples();
        metric.reset();
        for (const sample of all) metric.inc({ model_name: sample.model_name }, value(sample));
      },
    });
    register.registerMetric(metric);
  };
  for (const described of gauges) add(Gauge, described);
  for (const described of counters) add(Counter, described);
  register.registerMetric(
    new Gauge({
      name: "vllm:cache_config_info",
      help: "The cache's size in its labels; the value is always 1.",
      labelNames: [...labelNames, "block_size", "num_gpu_blocks"],
      registers: [],
      async collect() {
        const all = await samples();
        this.reset();
        for (const { model_name, figures } of all) {
          const blocks = Math.floor(figures.cells / kvBlockTokens);
          this.set({ model_name, block_size: kvBlockTokens, num_gpu_blocks: blocks }, 1);
        }
      },
    }),
  );
}

/**
 * The models that were loaded in this server's life. Before the first load it is the one that is served: a gateway that finds no
 * sample takes a server for one that it cannot see into, and sends it nothing.
 */
function sampledSlots({ slots }: ModelRegistry): ModelRegistry["slots"] {
  const loaded = slots.filter(({ counts }) => counts.loads > 0);
  return loaded.length > 0 ? loaded : slots.slice(0, 1);
}
