// What the engines of this server's life have done, over unloading and loading again. Kept by registry.ts, shown by
// /metrics.
import type { NativeStats } from "@ingle/engine";

/** The counters among an engine's figures; the others say how it is now. */
type EngineTotals = Pick<NativeStats, "turns" | "promptTokens" | "generatedTokens" | "preemptions">;

/** An engine's own names: what is now, and totals since the server began. */
export type EngineFigures = NativeStats;

const nothing: EngineFigures = {
  running: 0,
  waiting: 0,
  cells: 0,
  cellsUsed: 0,
  cellsCached: 0,
  turns: 0,
  promptTokens: 0,
  generatedTokens: 0,
  preemptions: 0,
};

export class EngineHistory {
  #past: EngineTotals = nothing;

  /** Keeps the totals of an engine that ends now. */
  close(last: EngineFigures): void {
    this.#past = this.with(last);
  }

  /** The totals of all engines, and how the present one is; absent where there is none. */
  with(present: EngineFigures = nothing): EngineFigures {
    return {
      ...present,
      turns: this.#past.turns + present.turns,
      promptTokens: this.#past.promptTokens + present.promptTokens,
      generatedTokens: this.#past.generatedTokens + present.generatedTokens,
      preemptions: this.#past.preemptions + present.preemptions,
    };
  }
}
