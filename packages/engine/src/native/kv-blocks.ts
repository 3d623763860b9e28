// Reports of the blocks of tokens in a model's prefix cache, for routers that send a prompt to the replica that has its prefix.
import type { NativeBlockMedium, NativeBlocksEvent, NativeEngine, NativeStoredBlocks } from "./addon.ts";

/** Tokens per block. Routers split prompts at the same positions, and accept no smaller blocks. */
export const kvBlockTokens = 64;

/** `device`: in the KV cache. `host`: in the host KV tier. */
export type KvBlockMedium = NativeBlockMedium;

export type StoredKvBlocks = NativeStoredBlocks;

/**
 * The changes since the previous report; apply removals first. A block's name is a hash of all tokens up to its end.
 * `isRestated`: the report replaces all previous ones.
 */
export type KvBlockReport = Omit<NativeBlocksEvent, "type">;

/** Dispose it to stop the reports. */
export interface KvBlockFollower extends Disposable {
  /** Requests a complete report; reports that are already on their way come first. */
  restate(): void;
}

/** Passes an engine's reports to one follower, and requests the next only after one was taken, so they never pile up. */
export class KvBlockReports {
  #onReport: ((report: KvBlockReport) => void) | undefined;
  #engine: NativeEngine | undefined;

  follow(engine: NativeEngine, onReport: (report: KvBlockReport) => void): KvBlockFollower {
    this.#engine = engine;
    this.#onReport = onReport;
    engine.reportBlocks(true);
    return {
      restate: () => engine.reportBlocks(true),
      [Symbol.dispose]: () => {
        if (this.#onReport === onReport) this.#onReport = undefined;
      },
    };
  }

  deliver(report: KvBlockReport): void {
    if (this.#onReport === undefined) return;
    this.#onReport(report);
    this.#engine?.reportBlocks(false);
  }
}
