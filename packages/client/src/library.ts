// `client.library`: the models of the server's machine and of the hub, and the orders to change what is there.
import type {
  FoundRepositories,
  LoadOrder,
  ManagedModel,
  ManagedModelList,
  MemoryEstimate,
  ModelAliases,
  OfferedRepository,
  RecommendedModel,
  RemovedModel,
} from "@ingle/protocol";

import { hasList, hasText, isRecord } from "./answer.ts";
import { callsBelow } from "./api-calls.ts";
import { PullStream } from "./pull-stream.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** What an order to load or unload takes. */
export interface OrderOptions extends CallOptions {
  /** False: resolves before it is done; `list()` tells how far it is. Default true. */
  wait?: boolean | undefined;
}

/**
 * What an order to load may say of this model beside that: its context and the bits of its KV cache. It holds until the
 * order to unload it, also when the model was freed for others and comes back; what is absent is as the server was told.
 */
export interface LoadOrderOptions extends OrderOptions, LoadSettings {}

type LoadSettings = Pick<LoadOrder, "context_length" | "kv_bits" | "kv_bits_k" | "kv_bits_v">;

/** The settings that a load would have; what is absent is as the server was told. */
export interface EstimateOptions extends CallOptions, LoadSettings {}

/** The model library of a server. A server that other machines reach without a key takes no orders: code `forbidden`. */
export interface Library {
  /** Repositories of the hub that match the words, the most downloaded first; at most `limit` (20). */
  search(words: string, options?: CallOptions & { limit?: number | undefined }): Promise<FoundRepositories>;
  /** The models of `org/repo`, the smallest first, with the memory that each will need. */
  describe(repo: string, options?: CallOptions): Promise<OfferedRepository>;
  /** The model to begin with: the one that the server's command line takes where none is named. Nothing is fetched. */
  recommended(options?: CallOptions): Promise<RecommendedModel>;
  /** Every model that the server could serve, where it is, and what all of them take. */
  list(options?: CallOptions): Promise<ManagedModelList>;
  /** Fetches what is not there: resolves when it begins. Aborting ends it and keeps what has come for the next pull. */
  pull(model: string, options?: CallOptions): Promise<PullStream>;
  /**
   * Loads a model and resolves when it is in memory, or rejects with why it is not; with `invalid_request` also where it is
   * in memory with other settings than these.
   */
  load(model: string, options?: LoadOrderOptions): Promise<ManagedModel>;
  /** What loading an installed model with these settings would take, and whether there is room. Nothing is loaded. */
  estimate(model: string, options?: EstimateOptions): Promise<MemoryEstimate>;
  /** Pins a model, or takes that back: a pinned one is not freed for others, nor because nobody uses it. */
  pin(model: string, pinned: boolean, options?: CallOptions): Promise<ManagedModel>;
  /** Frees a model's memory, once the requests that use it are done. */
  unload(model: string, options?: OrderOptions): Promise<ManagedModel>;
  /** Removes a model that is not in memory from the disk; one that was imported where it lies is only forgotten. */
  remove(model: string, options?: CallOptions): Promise<RemovedModel>;
  /** Lets `alias` stand for the model from now on. */
  setAlias(alias: string, model: string, options?: CallOptions): Promise<ModelAliases>;
  /** Forgets the alias; its model stays. */
  removeAlias(alias: string, options?: CallOptions): Promise<ModelAliases>;
}

const isFound = (value: unknown): value is FoundRepositories => hasList(value, "data");
const isModelList = (value: unknown): value is ManagedModelList =>
  hasList(value, "data") && isRecord(value["memory"]);
const isOffered = (value: unknown): value is OfferedRepository => hasList(value, "models");
const isNamed = (value: unknown): value is ModelAliases => hasList(value, "aliases");
const isModel = (value: unknown): value is ManagedModel => hasText(value, "status");
const isEstimate = (value: unknown): value is MemoryEstimate => hasText(value, "fits");
const isRecommended = (value: unknown): value is RecommendedModel =>
  hasText(value, "model") && hasText(value, "reason");
const isRemoved = (value: unknown): value is RemovedModel => isRecord(value) && value["removed"] === true;

/** Makes `client.library`. */
export function createLibrary(transport: Transport): Library {
  const root = "/api/v1/models";
  const { ask, order } = callsBelow(transport, root);
  return {
    search: (words, { limit, ...options } = {}) => {
      const most = limit === undefined ? "" : `&limit=${limit}`;
      return ask(`/search?q=${encodeURIComponent(words)}${most}`, options, isFound);
    },
    describe: (repo, options = {}) => ask(`/describe?repo=${encodeURIComponent(repo)}`, options, isOffered),
    recommended: (options = {}) => ask("/recommended", options, isRecommended),
    list: (options = {}) => ask("", options, isModelList),
    pull: async (model, { signal } = {}) =>
      new PullStream(
        await transport.stream({
          method: "POST",
          path: `${root}/pull`,
          body: { model, stream: true },
          signal,
        }),
      ),
    load: (model, { signal, ...said } = {}) => order("/load", { ...said, model }, { signal }, isModel),
    estimate: (model, { signal, ...said } = {}) =>
      order("/estimate", { ...said, model }, { signal }, isEstimate),
    pin: (model, pinned, options = {}) => order("/pin", { model, pinned }, options, isModel),
    unload: (model, { wait, ...options } = {}) => order("/unload", { model, wait }, options, isModel),
    remove: (model, options = {}) => order("/remove", { model }, options, isRemoved),
    setAlias: (alias, model, options = {}) => order("/alias", { alias, model }, options, isNamed),
    removeAlias: (alias, options = {}) => order("/unalias", { alias }, options, isNamed),
  };
}
