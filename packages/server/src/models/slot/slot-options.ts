// What a slot gets from the registry, and what it reports back.
import type { EngineCrash, Model } from "@ingle/engine";
import type { ModelSlot } from "./model-slot.ts";

export interface SlotOptions {
  isPinned: boolean;
  /** How many requests may wait in addition to those that run. */
  waitingMax: number;
  idleUnloadMs?: number | undefined;
  now: () => Date;
  /** Returns a larger number at each call, which orders models by their last use. */
  nextUse: () => number;
  /** Prepares and loads the model, because a request waits for it. Never rejects. */
  bring: (slot: ModelSlot) => Promise<void>;
  /** Called when something changes that others may wait for: the state, or the end of the last lease. */
  onChange: () => void;
  /** Called when the model is loaded, before it is used. */
  onLoaded?: (model: Model) => void;
  /** Called when the process of the model's engine has crashed; it restarts by itself. */
  onCrash?: (crash: EngineCrash) => void;
  /** Called right before the model is freed. */
  onFree?: () => void;
}
