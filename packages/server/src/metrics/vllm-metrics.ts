// The same metrics under the names that gateways, routers and autoscalers know from vLLM: `--metrics-compat vllm`. The Gateway
// API Inference Extension (proposal 003) and llm-d read the current names; the router of vLLM's production stack reads the older
// `gpu_…` ones (src/vllm_router/stats/engine_stats.py).
import { kvBlockTokens } from "@ingle/engine";
import type { Registry } from "prom-client";
import type { EngineStats } from "../models/slot/slot-engine.ts";
import type { ModelRegistry } from "../models/registry.ts";
import type { AdapterUses, RequestMetrics } from "./request-metrics.ts";
import { addCollected, oncePerScrape } from "./collected.ts";
import { kvUsage } from "./engine-metrics.ts";

/** A model at the time of a scrape. */
interface Sample {
  readonly model_name: string;
  readonly figures: EngineStats;
  /** Number of prompt tokens that did not have to be computed, and of all prompt tokens. */
  readonly hits: number;
  readonly queries: number;
}

type Figure = readonly [name: string, help: string, value: (sample: Sample) => number];

const gauges: readonly Figure[] = [
  ["num_requests_running", "ingle_requests_running.", ({ figures }) => figures.running],
  ["num_requests_waiting", "ingle_requests_waiting.", ({ figures }) => figures.waiting],
  ["kv_cache_usage_perc", "ingle_kv_usage_ratio.", ({ figures }) => kvUsage(figures)],
  ["gpu_cache_usage_perc", "ingle_kv_usage_ratio.", ({ figures }) => kvUsage(figures)],
  [
    "gpu_prefix_cache_hit_rate",
    "Tokens of prompts that did not have to be computed, divided by all of them: 0 to 1.",
    ({ hits, queries }) => (queries > 0 ? hits / queries : 0),
  ],
];

const counters: readonly Figure[] = [
  ["gpu_prefix_cache_hits_total", "Tokens of prompts that did not have to be computed.", ({ hits }) => hits],
  ["gpu_prefix_cache_queries_total", "Tokens of prompts, computed or not.", ({ queries }) => queries],
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
  for (const [kind, described] of [["gauge", gauges] as const, ["counter", counters] as const])
    for (const [name, help, value] of described)
      addCollected(register, {
        kind,
        name: `vllm:${name}`,
        help,
        labelNames,
        values: async () =>
          (await samples()).map((sample) => [{ model_name: sample.model_name }, value(sample)]),
      });
  addCollected(register, {
    name: "vllm:cache_config_info",
    help: "The cache's size in its labels; the value is always 1.",
    labelNames: [...labelNames, "block_size", "num_gpu_blocks"],
    values: async () =>
      (await samples()).map(({ model_name, figures }) => {
        const num_gpu_blocks = Math.floor(figures.cells / kvBlockTokens);
        return [{ model_name, block_size: kvBlockTokens, num_gpu_blocks }, 1];
      }),
  });
}

/** vLLM's metric of adapters. Only for servers that have any: without adapters, gateways expect it to be absent. */
export function addVllmAdapterMetric(register: Registry, models: ModelRegistry, adapters: AdapterUses): void {
  addCollected(register, {
    name: "vllm:lora_requests_info",
    help: "Adapters that requests wait for and run with, in the labels; the value is the time in Unix seconds.",
    labelNames: ["max_lora", "waiting_lora_adapters", "running_lora_adapters"],
    values: () => {
      // Every adapter is in memory with its model: there is always a place for each.
      const max_lora = models.slots.reduce((sum, slot) => sum + slot.adapters.length, 0);
      const waiting_lora_adapters = adapters.waiting.join(",");
      const running_lora_adapters = adapters.running.join(",");
      const labels = { max_lora, waiting_lora_adapters, running_lora_adapters };
      return [[labels, Date.now() / 1000]];
    },
  });
}

/**
 * The models that this server has loaded so far. Before the first load, the one that it serves: a gateway that finds no sample
 * considers the server unobservable and sends it nothing.
 */
function sampledSlots({ slots }: ModelRegistry): ModelRegistry["slots"] {
  const loaded = slots.filter(({ counts }) => counts.loads > 0);
  return loaded.length > 0 ? loaded : slots.slice(0, 1);
}
