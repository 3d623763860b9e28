// Metrics of the engines at the time of a scrape: the queue, the caches, the work so far.
import { sumBytes } from "@ingle/engine";
import type { Registry } from "prom-client";
import type { EngineStats } from "../models/slot/slot-engine.ts";
import type { ModelRegistry } from "../models/registry.ts";
import { addCollected, oncePerScrape } from "./collected.ts";

type Figure = readonly [keyof EngineStats, name: string, help: string];

const gauges: readonly Figure[] = [
  ["running", "requests_running", "Requests that are running."],
  ["waiting", "requests_waiting", "Requests in the waiting queue, or waiting for a model to be loaded."],
  ["cells", "kv_cells", "Cells of the KV cache, one token each; 0 while no model is loaded."],
  ["cellsUsed", "kv_cells_used", "Cells that running requests hold or have reserved."],
  ["cellsCached", "kv_cells_cached", "Cells of the prefix cache: kept for requests with the same prefix."],
  ["cacheRamBytes", "cache_ram_bytes", "Host memory that holds evicted state."],
  ["cacheRamPieces", "cache_ram_pieces", "Segments of evicted state in host memory."],
];

const totals: readonly Figure[] = [
  ["steps", "engine_turns_total", "Engine steps: one batch each."],
  [
    "promptTokens",
    "prompt_tokens_total",
    "Tokens of prompts, and of texts for embeddings, that were computed.",
  ],
  [
    "generatedTokens",
    "generated_tokens_total",
    "Generated tokens, including those of clients that disconnected.",
  ],
  [
    "imagesEncoded",
    "images_encoded_total",
    "Images, or tiles of them, and windows of audio that were encoded.",
  ],
  ["preemptions", "preemptions_total", "Running requests that gave up their KV cells and waited again."],
  ["contextShifts", "context_shifts_total", "Times that the oldest turns of a chat were dropped."],
  ["draftedTokens", "draft_tokens_total", "Draft tokens that speculative decoding proposed."],
  ["acceptedTokens", "draft_tokens_accepted_total", "Draft tokens that were accepted."],
  ["cacheRamHits", "cache_ram_hits_total", "Segments of evicted state that were copied back."],
  [
    "graphsBuilt",
    "graphs_built_total",
    "Graphs of batches that were built: the last one could not be used again.",
  ],
  [
    "outputBytes",
    "output_bytes_total",
    "Bytes of outputs that came back from devices: logits, candidates, and states that drafts need.",
  ],
];

/** The parts of a step, in their order. */
const phases: readonly (readonly [keyof EngineStats, phase: string])[] = [
  ["scheduleUs", "schedule"],
  ["cacheUs", "cache"],
  ["graphUs", "graph"],
  ["launchUs", "launch"],
  ["waitUs", "wait"],
  ["sampleUs", "sample"],
  ["publishUs", "publish"],
  ["embedUs", "embed"],
];
const microseconds = 1e6;

export function addEngineMetrics(register: Registry, models: ModelRegistry): void {
  const stats = oncePerScrape(() => models.stats());
  for (const [kind, figures] of [["gauge", gauges] as const, ["counter", totals] as const])
    for (const [figure, name, help] of figures)
      addCollected(register, { kind, name: `ingle_${name}`, help, values: () => stats()[figure] });
  addCollected(register, {
    kind: "counter",
    name: "ingle_step_seconds_total",
    help: "Time of engine steps by phase.",
    labelNames: ["phase"],
    values: () => phases.map(([figure, phase]) => [{ phase }, stats()[figure] / microseconds]),
  });
  addCollected(register, {
    kind: "counter",
    name: "ingle_device_seconds_total",
    help: "Time that GPUs computed, by their own clocks.",
    values: () => stats().deviceUs / microseconds,
  });
  addCollected(register, {
    name: "ingle_requests_in_flight",
    help: "Requests that run or wait: ingle_requests_running and ingle_requests_waiting together.",
    values: () => stats().running + stats().waiting,
  });
  addCollected(register, {
    name: "ingle_kv_usage_ratio",
    help: "Share of the KV cache that running requests hold or have reserved: 0 to 1.",
    values: () => kvUsage(stats()),
  });
  addCollected(register, {
    name: "ingle_model_loaded",
    help: "1 for a model in memory, 0 for one that the next request loads.",
    labelNames: ["model"],
    values: () => models.list().map(({ id, status }) => [{ model: id }, status === "loaded" ? 1 : 0]),
  });
  addCollected(register, {
    kind: "counter",
    name: "ingle_model_loads_total",
    help: "Loads of a model, by outcome.",
    labelNames: ["model", "outcome"],
    values: () =>
      models.slots.flatMap(({ id: model, counts: { loads, failures } }) => [
        ...(loads > 0 ? ([[{ model, outcome: "loaded" }, loads]] as const) : []),
        ...(failures > 0 ? ([[{ model, outcome: "failed" }, failures]] as const) : []),
      ]),
  });
  addCollected(register, {
    name: "ingle_engine_memory_bytes",
    help: "Memory in RAM of the process of a model's engine, including mapped weights.",
    labelNames: ["model"],
    values: () =>
      models.slots
        .filter(({ engine }) => engine.processMemoryBytes > 0)
        .map(({ id: model, engine }) => [{ model }, engine.processMemoryBytes]),
  });
  addCollected(register, {
    kind: "counter",
    name: "ingle_engine_crashes_total",
    help: "Crashes of the process of a model's engine.",
    labelNames: ["model"],
    values: () => models.slots.map(({ id: model, counts: { crashes } }) => [{ model }, crashes]),
  });
  addCollected(register, {
    name: "ingle_models_memory_bytes",
    help: "Memory that loaded models take: weights, caches and buffers.",
    values: () => sumBytes(models.memoryUsed()),
  });
}

/** The share of the KV cache that running requests hold or have reserved: 0 to 1. */
export function kvUsage({ cells, cellsUsed }: EngineStats): number {
  return cells > 0 ? cellsUsed / cells : 0;
}
