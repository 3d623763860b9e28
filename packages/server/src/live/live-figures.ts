// How fast a server computes, from the engines' counters at two moments. Each client of the event stream has its own sampler.
import type { LiveFigures } from "@ingle/protocol";
import type { EngineStats } from "../models/slot/engine-stats.ts";

/** Rates cover about this time, so that one long step does not look like a standstill. */
const windowMs = 1_000;

/** A finer resolution would change at every sample, and each change is an event. */
const memoryStepBytes = 1024 * 1024;

type Counted = Pick<
  EngineStats,
  "promptTokens" | "generatedTokens" | "running" | "waiting" | "cells" | "cellsUsed"
>;

/** What is known of the moment beside the engines' figures. */
export interface Beside {
  /** Of a clock that only rises. */
  atMs: number;
  memoryBytes: number;
  cachedShare: number | null;
}

interface Sample {
  atMs: number;
  figures: Counted;
}

export class FigureSampler {
  /** Those of the last second, and the one before them. */
  #samples: Sample[] = [];

  sample(figures: Counted, { atMs, memoryBytes, cachedShare }: Beside): LiveFigures {
    const inside = this.#samples.findIndex((each) => each.atMs > atMs - windowMs);
    const kept = inside === -1 ? this.#samples.slice(-1) : this.#samples.slice(Math.max(0, inside - 1));
    this.#samples = [...kept, { atMs, figures }];
    return {
      prompt_tokens_per_second: this.#rate("promptTokens"),
      completion_tokens_per_second: this.#rate("generatedTokens"),
      running: figures.running,
      waiting: figures.waiting,
      kv_used: figures.cells === 0 ? null : figures.cellsUsed / figures.cells,
      cached_share: cachedShare,
      memory_bytes: Math.round(memoryBytes / memoryStepBytes) * memoryStepBytes,
    };
  }

  #rate(counter: "promptTokens" | "generatedTokens"): number {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined || last.atMs === first.atMs) return 0;
    const perSecond = ((last.figures[counter] - first.figures[counter]) * 1000) / (last.atMs - first.atMs);
    return Math.max(0, Math.round(perSecond * 10) / 10);
  }
}
