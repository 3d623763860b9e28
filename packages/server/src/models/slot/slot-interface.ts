// What a slot gets from the registry and reports back, and what requests get from a slot.
import type { EngineCrash, Model } from "@ingle/engine";
import type { ReplyDefaults } from "@ingle/protocol";
import type { AdapterUses } from "../adapters.ts";
import type { MemoryPlanner } from "../eviction/memory-planner.ts";

/** The right to use a model. The model stays in memory until every lease is disposed. */
export interface Lease extends Disposable {
  readonly id: string;
  readonly model: Model;
  /** The adapter that the request names with the model. */
  readonly adapter?: string | undefined;
  /** The profile that the request names with the model. */
  readonly profile?: string | undefined;
  /** Defaults of requests: of the profile, else of the request that loaded the model, else of its settings. Default: none. */
  readonly defaults?: ReplyDefaults;
  /** For a request that chooses no adapters. Default: none. */
  readonly defaultAdapters?: AdapterUses | undefined;
}

/** What a request needs of a model. */
export interface LeaseNeeds {
  readonly signal?: AbortSignal | undefined;
  /** How many generations it will run. */
  readonly places: number;
  /** Whether it waits for all others. Default: false. */
  readonly isBackground?: boolean;
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
