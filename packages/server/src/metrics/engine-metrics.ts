// How the engine is at the moment of a scrape: the line, the cache, the work so far.
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
  ["running", "ingle_requests_running", "Requests that are computed now."],
  ["waiting", "ingle_requests_waiting", "Requests in line, or waiting for an idle model to be loaded."],
  ["cells", "ingle_kv_cells", "Cells of the KV cache, one token each; 0 while no model is loaded."],
  ["cellsUsed", "ingle_kv_cells_used", "Cells that running requests hold or have reserved."],
  ["cellsCached", "ingle_kv_cells_cached", "Cells kept for requests that begin like earlier ones."],
  ["cacheRamBytes", "ingle_cache_ram_bytes", "Host memory that holds evicted state."],
  ["cacheRamPieces", "ingle_cache_ram_pieces", "Pieces of evicted state in host memory."],
];

const totals: readonly (readonly [EngineCounter, string, string])[] = [
  ["turns", "ingle_engine_turns_total", "Turns of the engine: one batch each."],
  [
    "promptTokens",
    "ingle_prompt_tokens_total",
    "Tokens of prompts, and of texts for embeddings, that were computed.",
  ],
  [
    "generatedTokens",
    "ingle_generated_tokens_total",
    "Tokens of replies, those of clients that left included.",
  ],
  ["imagesEncoded", "ingle_images_encoded_total", "Images, or tiles of them, that were encoded."],
  ["preemptions", "ingle_preemptions_total", "Requests that gave their cells up for a while."],
  ["contextShifts", "ingle_context_shifts_total", "Times that the oldest turns of a chat were dropped."],
  ["draftedTokens", "ingle_draft_tokens_total", "Tokens that speculation guessed."],
  ["acceptedTokens", "ingle_draft_tokens_accepted_total", "Guessed tokens that were right."],
  ["cacheRamHits", "ingle_cache_ram_hits_total", "Pieces of evicted state that were copied back."],
];

export function addEngineMetrics(register: Registry, models: ModelRegistry): void {
  for (const [figure, name, help] of gauges) {
    register.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          this.set(models.stats()[figure]);
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
          this.inc(models.stats()[figure]);
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
        const { running, waiting } = models.stats();
        this.set(running + waiting);
      },
    }),
  );
  register.registerMetric(
    new Gauge({
      name: "ingle_kv_usage_ratio",
      help: "The part of the KV cache that running requests hold or have reserved: 0 to 1.",
      registers: [],
      collect() {
        this.set(kvUsage(models.stats()));
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

/** How often models came and went, and the memory that they take. */
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

/** The part of the KV cache that running requests hold or have reserved: 0 to 1. */
export function kvUsage({ cells, cellsUsed }: EngineStats): number {
  return cells > 0 ? cellsUsed / cells : 0;
}
