// Which blocks of tokens another request could reuse from a model's KV cache: for routers that send a prompt to where its
// beginning is computed. Used by model.ts.
import type { NativeBlockMedium, NativeBlocksEvent, NativeEngine, NativeStoredBlocks } from "./native.ts";

/** Tokens of a block. Routers cut prompts in the same places, and take no smaller blocks. */
export const kvBlockTokens = 64;

/** `device`: in the context. `host`: in host memory, from where it is copied back. */
export type KvBlockMedium = NativeBlockMedium;

export type StoredKvBlocks = NativeStoredBlocks;

/**
 * What has changed since the report before; the removed ones go first. Blocks are named by a hash of all tokens of a text up
 * to the block's end. `isRestated`: nothing of before holds any longer.
 */
export type KvBlockReport = Omit<NativeBlocksEvent, "type">;

/** Disposed, it reports no more. */
export interface KvBlockFollower extends Disposable {
  /** The next report but those that are on their way tells everything anew. */
  restate(): void;
}

/** Hands reports of one engine to one follower, and asks for the next when one was taken: so they never pile up. */
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
