// Metrics of the engines at the moment of a scrape: the queue, the caches, the work so far.
import { totalOf } from "@ingle/engine";
import { Counter, Gauge, type Registry } from "prom-client";
import type { EngineCounter, EngineStats } from "../models/slot/engine-stats.ts";
import type { ModelRegistry } from "../models/registry.ts";

type GaugeName =
  | "running"
  | "waiting"
  | "cells"
  | "cellsUsed"
  | "cellsCached"
  | "cacheRamBytes"
  | "cacheRamPieces";
const gauges: readonly (readonly [GaugeName, string, string])[] = [
  ["running", "ingle_requests_running", "Requests that are running."],
  [
    "waiting",
    "ingle_requests_waiting",
    "Requests in the waiting queue, or waiting for a model to be loaded.",
  ],
  ["cells", "ingle_kv_cells", "Cells of the KV cache, one token each; 0 while no model is loaded."],
  ["cellsUsed", "ingle_kv_cells_used", "Cells that running requests hold or have reserved."],
  [
    "cellsCached",
    "ingle_kv_cells_cached",
    "Cells of the prefix cache: kept for requests with the same prefix.",
  ],
  ["cacheRamBytes", "ingle_cache_ram_bytes", "Host memory that holds evicted state."],
  ["cacheRamPieces", "ingle_cache_ram_pieces", "Pieces of evicted state in host memory."],
];

const totals: readonly (readonly [EngineCounter, string, string])[] = [
  ["turns", "ingle_engine_turns_total", "Engine steps: one batch each."],
  [
    "promptTokens",
    "ingle_prompt_tokens_total",
    "Tokens of prompts, and of texts for embeddings, that were computed.",
  ],
  [
    "generatedTokens",
    "ingle_generated_tokens_total",
    "Generated tokens, those of clients that disconnected included.",
  ],
  ["imagesEncoded", "ingle_images_encoded_total", "Images, or tiles of them, that were encoded."],
  [
    "preemptions",
    "ingle_preemptions_total",
    "Running requests that gave up their KV cells and waited again.",
  ],
  ["contextShifts", "ingle_context_shifts_total", "Times that the oldest turns of a chat were dropped."],
  ["draftedTokens", "ingle_draft_tokens_total", "Draft tokens that speculative decoding proposed."],
  ["acceptedTokens", "ingle_draft_tokens_accepted_total", "Draft tokens that were accepted."],
  ["cacheRamHits", "ingle_cache_ram_hits_total", "Pieces of evicted state that were copied back."],
];

export function addEngineMetrics(register: Registry, models: ModelRegistry): void {
  const stats = oncePerScrape(() => models.stats());
  for (const [figure, name, help] of gauges) {
    register.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          this.set(stats()[figure]);
        },
      }),
    );
  }
  for (const [figure, name, help] of totals) {
    register.registerMetric(
      new Counter({
        name,
        help,
        registers: [],
        collect() {
          this.reset();
          this.inc(stats()[figure]);
        },
      }),
    );
  }
  register.registerMetric(
    new Gauge({
      name: "ingle_requests_in_flight",
      help: "Requests that run or wait: ingle_requests_running and ingle_requests_waiting together.",
      registers: [],
      collect() {
        const { running, waiting } = stats();
        this.set(running + waiting);
      },
    }),
  );
  register.registerMetric(
    new Gauge({
      name: "ingle_kv_usage_ratio",
      help: "Share of the KV cache that running requests hold or have reserved: 0 to 1.",
      registers: [],
      collect() {
        this.set(kvUsage(stats()));
      },
    }),
  );
  register.registerMetric(
    new Gauge({
      name: "ingle_model_loaded",
      help: "1 for a model in memory, 0 for one that the next request loads.",
      labelNames: ["model"],
      registers: [],
      collect() {
        this.reset();
        for (const { id, status } of models.list()) this.set({ model: id }, status === "loaded" ? 1 : 0);
      },
    }),
  );
  addModelMetrics(register, models);
}

/** Loads of models, and the memory that they take. */
function addModelMetrics(register: Registry, models: ModelRegistry): void {
  register.registerMetric(
    new Counter({
      name: "ingle_model_loads_total",
      help: "Loads of a model, by how they ended.",
      labelNames: ["model", "outcome"],
      registers: [],
      collect() {
        this.reset();
        for (const { id, counts } of models.slots) {
          if (counts.loads > 0) this.inc({ model: id, outcome: "loaded" }, counts.loads);
          if (counts.failures > 0) this.inc({ model: id, outcome: "failed" }, counts.failures);
        }
      },
    }),
  );
  register.registerMetric(
    new Gauge({
      name: "ingle_models_memory_bytes",
      help: "Memory that loaded models take: weights, caches and buffers.",
      registers: [],
      collect() {
        this.set(totalOf(models.memoryUsed()));
      },
    }),
  );
}

/**
 * Gathers once for all metrics of a scrape: a registry calls the collect functions of its metrics one after the other,
 * without waiting between them.
 */
export function oncePerScrape<T>(gather: () => T): () => T {
  let gathered: { value: T } | undefined;
  return () => {
    if (gathered === undefined) queueMicrotask(() => (gathered = undefined));
    gathered ??= { value: gather() };
    return gathered.value;
  };
}

/** Share of the KV cache that running requests hold or have reserved: 0 to 1. */
export function kvUsage({ cells, cellsUsed }: EngineStats): number {
  return cells > 0 ? cellsUsed / cells : 0;
}
