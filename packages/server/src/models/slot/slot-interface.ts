// What a slot gets from the registry and reports back, and what requests get from a slot.
import type { EngineCrash, Model } from "@ingle/engine";
import type { AdapterUses } from "../adapters.ts";
import type { MemoryPlanner } from "../eviction/memory-planner.ts";
import type { LoadSettings } from "./load-settings.ts";

/** The right to use a model. The model stays in memory until every lease is disposed. */
export interface Lease extends Disposable {
  readonly id: string;
  readonly model: Model;
  /** The adapter that the request names with the model. */
  readonly adapter?: string | undefined;
  /** Defaults that the request which loaded the model has set. Default: none. */
  readonly sampling?: LoadSettings["sampling"];
  /** For a request that chooses no adapters. Default: none. */
  readonly defaultAdapters?: AdapterUses | undefined;
}

export interface SlotOptions {
  isPinned: boolean;
  /** How many requests may wait in addition to those that run. */
  waitingMax: number;
  idleUnloadMs?: number | undefined;
  now: () => Date;
  /** Returns a larger number at each call, which orders models by their last use. */
  nextUse: () => number;
  /** Gives it memory, and hears of every change that others may wait for: the state, or the end of the last lease. */
  planner: MemoryPlanner;
  /** Aborted when the server closes. */
  closing: AbortSignal;
  /** Called when the model is loaded, before it is used. */
  onLoaded?: (model: Model) => void;
  /** Called when the process of the model's engine has crashed; it restarts by itself. */
  onCrash?: (crash: EngineCrash) => void;
  /** Called right before the model is freed. */
  onFree?: () => void;
}
