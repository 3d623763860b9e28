// How the engine is at the moment of a scrape: the line, the cache, the work so far. Also under the names that
// autoscalers and gateways know from vLLM, when --metrics-compat asks for them.
import { totalOf } from "@ingle/engine";
import { Counter, Gauge, type Registry } from "prom-client";
import type { EngineCounter, EngineFigures } from "../models/engine-figures.ts";
import type { ModelRegistry } from "../models/registry.ts";

/**
 * Our cache is counted in cells of one token. Gateways hash prompts block by block, so a block of one token would cost
 * them much; 16 is what they are used to, and block_size times num_gpu_blocks is the same memory.
 */
const vllmBlockSize = 16;

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

export function addEngineMetrics(
  register: Registry,
  models: ModelRegistry,
  options: { vllmNames: boolean },
): void {
  for (const [figure, name, help] of gauges) {
    register.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          this.set(models.figures()[figure]);
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
          this.inc(models.figures()[figure]);
        },
      }),
    );
  }
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
  if (options.vllmNames) addVllmNames(register, models);
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

/** One sample for each model that was loaded in this server's life, as a gateway expects them. */
function addVllmNames(register: Registry, models: ModelRegistry): void {
  const all = (): { model_name: string; figures: EngineFigures }[] => {
    const loaded = models.slots.filter(({ counts }) => counts.loads > 0);
    return loaded.map((slot) => ({ model_name: slot.id, figures: slot.figures() }));
  };
  const gauge = (name: string, help: string, value: (figures: EngineFigures) => number): void => {
    register.registerMetric(
      new Gauge({
        name: `vllm:${name}`,
        help,
        labelNames: ["model_name"],
        registers: [],
        collect() {
          this.reset();
          for (const { model_name, figures } of all()) this.set({ model_name }, value(figures));
        },
      }),
    );
  };
  gauge("num_requests_running", "ingle_requests_running.", ({ running }) => running);
  gauge("num_requests_waiting", "ingle_requests_waiting.", ({ waiting }) => waiting);
  gauge("kv_cache_usage_perc", "ingle_kv_cells_used / ingle_kv_cells: 0 to 1.", ({ cells, cellsUsed }) =>
    cells > 0 ? cellsUsed / cells : 0,
  );
  register.registerMetric(
    new Gauge({
      name: "vllm:cache_config_info",
      help: "The cache's size in its labels; the value is always 1.",
      labelNames: ["model_name", "block_size", "num_gpu_blocks"],
      registers: [],
      collect() {
        this.reset();
        for (const { model_name, figures } of all()) {
          const blocks = Math.floor(figures.cells / vllmBlockSize);
          this.set({ model_name, block_size: vllmBlockSize, num_gpu_blocks: blocks }, 1);
        }
      },
    }),
  );
}
