// Statistics of the engines of one model, summed over unloading and loading again.
import type { NativeStats } from "@ingle/engine";

/** Gauges of the current engine, and counters since the server started. */
export type EngineStats = Omit<NativeStats, "cellBytes" | "embeddingMemory">;

const gauges = {
  running: 0,
  waiting: 0,
  cells: 0,
  cellsUsed: 0,
  cellsCached: 0,
  cacheRamBytes: 0,
  cacheRamPieces: 0,
};

/** The statistics that only grow. */
const counters = {
  steps: 0,
  promptTokens: 0,
  generatedTokens: 0,
  imagesEncoded: 0,
  preemptions: 0,
  contextShifts: 0,
  draftedTokens: 0,
  acceptedTokens: 0,
  cacheRamHits: 0,
};

const nothing: EngineStats = { ...gauges, ...counters };

function namesOf<Stats extends object>(stats: Stats): (keyof Stats)[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the objects above have no other keys
  return Object.keys(stats) as (keyof Stats)[];
}

/** Adds up the statistics of several models. */
export function sumOfStats(all: readonly EngineStats[]): EngineStats {
  const sum = { ...nothing };
  for (const stats of all) {
    for (const name of namesOf(nothing)) sum[name] += stats[name];
  }
  return sum;
}

export class EngineHistory {
  #past: EngineStats = nothing;

  /** Keeps the counters of an engine that is freed. */
  close(last: EngineStats): void {
    this.#past = this.with(last);
  }

  /** The gauges of the current engine, if there is one, with the counters of all engines. */
  with(present: EngineStats = nothing): EngineStats {
    const stats = { ...present };
    for (const counter of namesOf(counters)) stats[counter] += this.#past[counter];
    return stats;
  }
}
