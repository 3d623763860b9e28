// Computes how fast a server is: rates from the engines' counters. Each client of the event stream has its own sampler.
import type { LiveFigures } from "@ingle/protocol";
import type { EngineStats } from "../models/slot/slot-engine.ts";

/** The time that rates cover, in milliseconds: long enough that one long step does not look like a standstill. */
const windowMs = 1_000;

/** Resolution of the memory figure: a finer one would send an event for every sample. */
const memoryStepBytes = 1024 * 1024;

type Counted = Pick<
  EngineStats,
  "promptTokens" | "generatedTokens" | "running" | "waiting" | "cells" | "cellsUsed"
>;

/** Current figures that do not come from the engines. */
export interface Beside {
  /** Monotonic time in milliseconds. */
  atMs: number;
  memoryBytes: number;
  cachedShare: number | null;
}

interface Sample {
  atMs: number;
  figures: Counted;
}

export class FigureSampler {
  /** The samples of the last second, and the one before them. */
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
