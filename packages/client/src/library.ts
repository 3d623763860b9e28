// `client.library`: lists and manages the models on the server's machine, and finds models on the hub.
import type {
  FoundRepositories,
  LoadRequest,
  ManagedModel,
  ManagedModelList,
  MemoryEstimate,
  ModelAliases,
  ModelSettings,
  ModelSettingsState,
  OfferedRepository,
  PullEvent,
  RecommendedModel,
  RemovedModel,
} from "@ingle/protocol";

import { hasList, hasText, isRecord } from "./response-body.ts";
import { callsBelow } from "./calls.ts";
import { StreamError } from "./errors.ts";
import { ReplyStream } from "./reply-stream.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface WaitOptions extends CallOptions {
  /** False resolves before the work is done; the state then shows the progress. Default true. */
  wait?: boolean | undefined;
}

/**
 * The settings for loading this model: its context, the bits of its KV cache, and defaults of its requests. They last until a request unloads the model,
 * even if it was evicted and loaded again; missing ones default to the server's settings.
 */
export interface LoadOptions extends WaitOptions, LoadSettings {}

type LoadSettings = Pick<LoadRequest, "context_length" | "kv_bits" | "kv_bits_k" | "kv_bits_v" | "sampling">;

/** The settings to estimate; missing ones default to the server's settings. */
export interface EstimateOptions extends CallOptions, LoadSettings {}

/** A server that other machines can reach without a key refuses changes with the code `forbidden`. */
export interface Library {
  /** Repositories of the hub that match the words, most downloaded first. `limit` defaults to 20. */
  search(words: string, options?: CallOptions & { limit?: number | undefined }): Promise<FoundRepositories>;
  /** The models of `org/repo`, smallest first, with the memory that each will need. */
  describe(repo: string, options?: CallOptions): Promise<OfferedRepository>;
  /** The model that the server's command line chooses if none is given. Nothing is downloaded. */
  recommended(options?: CallOptions): Promise<RecommendedModel>;
  /** Every model that the server can serve, its location, and their total size. */
  list(options?: CallOptions): Promise<ManagedModelList>;
  /** Downloads a model; resolves when the download starts. Aborting ends it and keeps the downloaded part. */
  pull(model: string, options?: CallOptions): Promise<PullStream>;
  /**
   * Loads a model and resolves once it is in memory. Rejects with the reason if it cannot be loaded, and with `invalid_request`
   * if it is already in memory with other settings.
   */
  load(model: string, options?: LoadOptions): Promise<ManagedModel>;
  /** The memory that an installed model would need with these settings, and whether it fits. Nothing is loaded. */
  estimate(model: string, options?: EstimateOptions): Promise<MemoryEstimate>;
  /** Pins or unpins a model: a pinned model is neither evicted nor unloaded when idle. */
  pin(model: string, pinned: boolean, options?: CallOptions): Promise<ManagedModel>;
  /** The settings that stay with a model, over restarts of the server. */
  settings(model: string, options?: CallOptions): Promise<ModelSettingsState>;
  /** Replaces all of them; `{}` removes them. */
  setSettings(model: string, settings: ModelSettings, options?: CallOptions): Promise<ModelSettingsState>;
  /** Unloads a model once the requests that use it are done. */
  unload(model: string, options?: WaitOptions): Promise<ManagedModel>;
  /** Deletes a model that is not in memory from the disk. If it was imported in place, its files stay. */
  remove(model: string, options?: CallOptions): Promise<RemovedModel>;
  /** Makes `alias` a name of the model. */
  setAlias(alias: string, model: string, options?: CallOptions): Promise<ModelAliases>;
  /** Removes the alias; its model stays. */
  removeAlias(alias: string, options?: CallOptions): Promise<ModelAliases>;
}

/**
 * The events of a download; see `ReplyStream` for reading and leaving it. Leaving it stops the download; the next pull
 * continues it.
 */
export class PullStream extends ReplyStream<PullEvent> {
  #last: PullEvent | undefined;

  /** The last event, `done`, with the id of the model. Reads the stream to its end unless another reader does. */
  async finalEvent(): Promise<PullEvent> {
    await this.untilWhole();
    if (this.#last?.status === "done") return this.#last;
    throw new StreamError("the download ended without its model", "stream_incomplete", null);
  }

  protected override toEvent(data: unknown): PullEvent | undefined {
    return isPullEvent(data) ? data : undefined;
  }

  protected override keep(event: PullEvent): void {
    this.#last = event;
  }
}

const isPullEvent = (value: unknown): value is PullEvent =>
  hasText(value, "status") && hasText(value, "model");

const isFound = (value: unknown): value is FoundRepositories => hasList(value, "data");
const isModelList = (value: unknown): value is ManagedModelList =>
  hasList(value, "data") && isRecord(value["memory"]);
const isOffered = (value: unknown): value is OfferedRepository => hasList(value, "models");
const isNamed = (value: unknown): value is ModelAliases => hasList(value, "aliases");
const isModel = (value: unknown): value is ManagedModel => hasText(value, "status");
const isSettings = (value: unknown): value is ModelSettingsState =>
  hasText(value, "model") && isRecord(value) && isRecord(value["settings"]);
const isEstimate = (value: unknown): value is MemoryEstimate => hasText(value, "fits");
const isRecommended = (value: unknown): value is RecommendedModel =>
  hasText(value, "model") && hasText(value, "reason");
const isRemoved = (value: unknown): value is RemovedModel => isRecord(value) && value["removed"] === true;

export function createLibrary(transport: Transport): Library {
  const root = "/api/v1/models";
  const { get, post, put } = callsBelow(transport, root);
  const settingsPath = (model: string): string => `/${encodeURIComponent(model)}/settings`;
  return {
    search: (words, { limit, ...options } = {}) => {
      const limited = limit === undefined ? "" : `&limit=${limit}`;
      return get(`/search?q=${encodeURIComponent(words)}${limited}`, options, isFound);
    },
    describe: (repo, options = {}) => get(`/describe?repo=${encodeURIComponent(repo)}`, options, isOffered),
    recommended: (options = {}) => get("/recommended", options, isRecommended),
    list: (options = {}) => get("", options, isModelList),
    pull: async (model, { signal } = {}) =>
      new PullStream(
        await transport.stream({
          method: "POST",
          path: `${root}/pull`,
          body: { model, stream: true },
          signal,
        }),
      ),
    load: (model, { signal, ...settings } = {}) => post("/load", { ...settings, model }, { signal }, isModel),
    estimate: (model, { signal, ...settings } = {}) =>
      post("/estimate", { ...settings, model }, { signal }, isEstimate),
    pin: (model, pinned, options = {}) => post("/pin", { model, pinned }, options, isModel),
    settings: (model, options = {}) => get(settingsPath(model), options, isSettings),
    setSettings: (model, settings, options = {}) => put(settingsPath(model), settings, options, isSettings),
    unload: (model, { wait, ...options } = {}) => post("/unload", { model, wait }, options, isModel),
    remove: (model, options = {}) => post("/remove", { model }, options, isRemoved),
    setAlias: (alias, model, options = {}) => post("/alias", { alias, model }, options, isNamed),
    removeAlias: (alias, options = {}) => post("/unalias", { alias }, options, isNamed),
  };
}
