// What the engines of this server's life have done, over unloading and loading again. Kept for each model by
// model-slot.ts, shown by /metrics.
import type { NativeStats } from "@ingle/engine";

/** How the engine is now, and its counters since the server began. */
export type EngineStats = Omit<NativeStats, "cellBytes">;

/** Those that are of the moment. */
const presents = [
  "running",
  "waiting",
  "cells",
  "cellsUsed",
  "cellsCached",
  "cacheRamBytes",
  "cacheRamPieces",
] as const satisfies (keyof EngineStats)[];

const counters = [
  "turns",
  "promptTokens",
  "generatedTokens",
  "imagesEncoded",
  "preemptions",
  "contextShifts",
  "draftedTokens",
  "acceptedTokens",
  "cacheRamHits",
] as const satisfies (keyof EngineStats)[];

/** Those of the figures that only ever grow. */
export type EngineCounter = (typeof counters)[number];

const nothing: EngineStats = {
  running: 0,
  waiting: 0,
  cells: 0,
  cellsUsed: 0,
  cellsCached: 0,
  turns: 0,
  promptTokens: 0,
  generatedTokens: 0,
  imagesEncoded: 0,
  preemptions: 0,
  contextShifts: 0,
  draftedTokens: 0,
  acceptedTokens: 0,
  cacheRamBytes: 0,
  cacheRamPieces: 0,
  cacheRamHits: 0,
};

/** Of several models together. */
export function sumOfStats(all: readonly EngineStats[]): EngineStats {
  const sum = { ...nothing };
  for (const figures of all) {
    for (const name of [...presents, ...counters]) sum[name] += figures[name];
  }
  return sum;
}

export class EngineHistory {
  #past: EngineStats = nothing;

  /** Keeps the counters of an engine that ends now. */
  close(last: EngineStats): void {
    this.#past = this.with(last);
  }

  /** How the present engine is, where there is one, with the counters of all. */
  with(present: EngineStats = nothing): EngineStats {
    const figures = { ...present };
    for (const counter of counters) figures[counter] += this.#past[counter];
    return figures;
  }
}
