// A loaded model with its engine: prepares prompts, submits requests, and passes the engine's events to them.
import {
  fromNative,
  toEngineError,
  type NativeBlocksEvent,
  type NativeEngine,
  type NativeEngineOptions,
  type NativeEvent,
  type NativeMemoryLimits,
  type NativeModel,
  type NativeModelInfo,
  type NativeStats,
} from "./native/addon.ts";
import { EngineError, invalidRequest, isCrash } from "./base/errors.ts";
import { prepareForTemplate } from "./prompt/chat-preparation.ts";
import { predictionTokens, preparePrompt, type PromptParts } from "./generate/prepare-prompt.ts";
import { listScales } from "./generate/adapter-options.ts";
import {
  checkEmbeddingRequest,
  embed,
  type EmbeddingInput,
  type EmbeddingResult,
  type EmbeddingSource,
  type EmbedOptions,
} from "./generate/embeddings.ts";
import { Generation, type StartedGeneration } from "./generate/generation.ts";
import { checkGenerationRequest, type GenerationRequest } from "./generate/generation-request.ts";
import type { TemplateTraits } from "./library/model-traits.ts";
import { KvBlockReports, type KvBlockFollower, type KvBlockReport } from "./native/kv-blocks.ts";
import { nativeLimits } from "./machine/memory.ts";
import { deliver, toRequestError, type EventReceivers } from "./native/event-receivers.ts";
import { biasedTokens } from "./generate/logit-bias.ts";
import { Processor } from "./prompt/processor.ts";
import {
  priorities,
  toNativeRequest,
  type Priority,
  type PromptToSubmit,
  type RequestToSubmit,
} from "./generate/native-request.ts";
import type { RecommendedSampling } from "./library/recommended-sampling.ts";
import {
  checkRerank,
  rejectReranker,
  rerank,
  type RerankOptions,
  type RerankResult,
} from "./generate/rerank.ts";
import { Slots } from "./generate/slots.ts";
import { Tokenizer } from "./prompt/tokenizer.ts";
import type { ModelProcess, Supervisor } from "./native/engine-process/supervisor.ts";
import type { WorkersLease } from "./native/workers/worker-pool.ts";
import { toMemoryBytes, type MemoryBytes } from "./base/memory-bytes.ts";

export interface ModelInfo extends NativeModelInfo {
  /** Maximum number of tokens per request, prompt and reply. */
  contextLength: number;
  /** Maximum number of requests that are computed at the same time. */
  parallel: number;
  /** Threads that compute. */
  threads: number;
  /** Bytes of one token in the KV cache; 0 if the model has none. */
  kvBytesPerToken: number;
  /** The names of the adapters that it was loaded with. */
  adapters: readonly string[];
  /** What its makers recommend: its file's keys `general.sampling.*`. `generate()` does not use it by itself. */
  sampling: RecommendedSampling;
  /** What its chat template has, its own one or the one that it was loaded with; undefined if its file tells nothing. */
  templateTraits: TemplateTraits | undefined;
  /** Whether it was loaded with `kvBlockSalt`, so that `followKvBlocks()` works. */
  reportsKvBlocks: boolean;
}

type ChatRequest = Extract<GenerationRequest, { messages: unknown }>;

export interface GenerateOptions {
  /** Aborting it cancels the generation, which rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Whose request this is: different clients share the engine fairly. Default: one client for all requests. */
  client?: string | undefined;
  /**
   * Requests of a higher priority are served before those of a lower one, whoever sends them, and take their places: what those had
   * computed stays in the prefix cache. One in the background is only computed while no other runs. Default: `normal`.
   */
  priority?: Priority | undefined;
}

/** What a model needs besides its native parts if it is spread over workers, runs in its own process, or has adapters. */
interface ModelParts {
  adapters?: readonly string[] | undefined;
  sampling?: RecommendedSampling | undefined;
  template?: TemplateTraits | undefined;
  /** Whether it reasons in chats that do not say. Default true. */
  thinks?: boolean | undefined;
  /** Whether special tokens spelled in messages are read as such. Default false. */
  specialTokensInContent?: boolean | undefined;
  workers?: WorkersLease | undefined;
  supervisor?: Supervisor | undefined;
}

/** A loaded model. `load()` creates it; dispose it to free its memory. */
export class Model implements AsyncDisposable {
  readonly info: ModelInfo;
  readonly tokenizer: Tokenizer;
  /** Formats conversations with images; null if the model reads no images. */
  readonly processor: Processor | null;
  /** Names of texts, by which their computed state can be saved, restored and erased. */
  readonly slots: Slots;
  readonly #native: NativeModel;
  readonly #engine: NativeEngine;
  readonly #receivers: EventReceivers;
  readonly #workers: WorkersLease | undefined;
  readonly #supervisor: Supervisor | undefined;
  readonly #promptParts: PromptParts;
  #disposal: Promise<void> | undefined;

  private constructor(
    native: NativeModel,
    engine: NativeEngine,
    receivers: EventReceivers,
    {
      options,
      workers,
      supervisor,
      adapters = [],
      sampling = {},
      template,
      thinks = true,
      specialTokensInContent = false,
    }: { options: NativeEngineOptions } & ModelParts,
  ) {
    this.#native = native;
    this.#engine = engine;
    this.#receivers = receivers;
    this.#workers = workers;
    this.#supervisor = supervisor;
    this.tokenizer = new Tokenizer(native);
    const chatTemplate = { ...native.info.chatTemplate, thinks, specialTokensInContent };
    this.#promptParts = { native, tokenizer: this.tokenizer, template: chatTemplate };
    this.slots = new Slots(engine, options.parallel, options.slotDir);
    const { readsImages, imageMarker } = native.info;
    this.processor = readsImages ? new Processor(this.tokenizer, imageMarker) : null;
    this.info = {
      ...native.info,
      contextLength: options.contextLength,
      parallel: options.parallel,
      threads: options.threads,
      kvBytesPerToken: engine.stats().cellBytes,
      adapters,
      sampling,
      templateTraits: template,
      reportsKvBlocks: options.kvBlockTokens > 0,
    };
  }

  /** Starts an engine for a loaded native model. The result owns everything except the draft model, which stays the caller's. */
  static async start(
    native: NativeModel,
    options: NativeEngineOptions,
    { draftModel, ...parts }: { draftModel?: NativeModel } & ModelParts = {},
  ): Promise<Model> {
    const receivers: EventReceivers = { listeners: new Map(), blocks: new KvBlockReports() };
    const onEvents = (events: readonly (NativeEvent | NativeBlocksEvent)[]): void =>
      deliver(events, receivers);
    const engine = await fromNative(native.createEngine(options, onEvents, draftModel));
    return new Model(native, engine, receivers, { options, ...parts });
  }

  /** Starts a generation. Throws `invalid_request` or `disposed`; the returned handle reports all other errors. */
  generate(request: GenerationRequest, options: GenerateOptions = {}): Generation {
    const checked = checkGenerationRequest(request);
    const { client = "", priority = "normal" } = options;
    const adapterScales = listScales(checked.adapters, this.info.adapters);
    this.#assertUsable();
    return new Generation(
      {
        start: async (onEvent, signal) => {
          const prompt = await preparePrompt(checked, this.#promptParts, signal);
          const prediction = await predictionTokens(this.info.rollsBack ? checked.prediction : "", this);
          const bias = await biasedTokens(checked.logitBias, this.tokenizer);
          signal.throwIfAborted();
          return this.#submit(
            { ...checked, adapterScales, client, priority: priorities[priority] },
            { ...prompt, prediction, bias },
            onEvent,
          );
        },
      },
      {
        signal: options.signal,
        stops: checked.stop,
        hasLogprobs: checked.logprobs !== undefined,
        hasPromptLogprobs: checked.promptLogprobs !== undefined,
        reportsPrompt: checked.reportsPrompt,
        isPromptOnly: checked.maxTokens === 0,
        toError: toRequestError,
      },
    );
  }

  /** The tokens of a request's prompt, as `generate()` would compute them. Rejects with the errors that `generate()` would. */
  async promptTokens(
    request: GenerationRequest,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<Int32Array> {
    const checked = checkGenerationRequest(request);
    signal?.throwIfAborted();
    this.#assertUsable();
    const { tokens } = await againAfterCrash(() => preparePrompt(checked, this.#promptParts, signal));
    signal?.throwIfAborted();
    return tokens;
  }

  /** The text that the chat template makes of a request's messages. Rejects with the errors that `generate()` would. */
  async promptText(request: ChatRequest, { addGenerationPrompt = true } = {}): Promise<string> {
    const checked = checkGenerationRequest(request);
    this.#assertUsable();
    if (checked.messages === undefined) throw invalidRequest("messages", "they are missing.");
    const prepared = prepareForTemplate(checked, this.#promptParts.template);
    const chat = prepared.promptChat ?? prepared.chat;
    const asked = { ...chat, addGenerationPrompt: chat.addGenerationPrompt && addGenerationPrompt };
    return (await fromNative(this.#native.applyChatTemplate(asked))).prompt;
  }

  /**
   * Computes a vector for each text. Texts with similar meanings have vectors with similar directions: the dot product of two
   * normalized vectors measures their similarity. At most 2,048 texts; texts are never truncated.
   *
   * Rejects with `invalid_request`, `context_length_exceeded` (a text is longer than the model takes),
   * `embeddings_not_supported` (a reranker, for example), `overloaded`, `out_of_memory`, `engine_failed`, `disposed`, or
   * the signal's reason.
   */
  async embed(inputs: readonly EmbeddingInput[], options: EmbedOptions = {}): Promise<EmbeddingResult> {
    const { embeddingSize } = this.info;
    const checked = checkEmbeddingRequest(inputs, options, embeddingSize);
    const source = {
      size: embeddingSize,
      tokenizeInput: async (input: EmbeddingInput) =>
        typeof input === "string" ? this.tokenizer.encode(input) : Int32Array.from(input),
      ...this.#textQueue(nativeLimits(options.budget)),
    };
    this.#assertUsable();
    rejectReranker(this.info);
    return againAfterCrash(() => embed(checked, source, options.signal));
  }

  /**
   * Scores how well each document fits a query. The model must be a reranker. At most 2,048 documents; nothing is truncated.
   *
   * Rejects with `invalid_request`, `reranking_not_supported` (the model is no reranker), `context_length_exceeded` (a query and a
   * document are together longer than the model takes), `overloaded`, `out_of_memory`, `engine_failed`, `disposed`, or the
   * signal's reason.
   */
  async rerank(
    query: string,
    documents: readonly string[],
    { signal }: RerankOptions = {},
  ): Promise<RerankResult> {
    const { info, tokenizer } = this;
    const checked = checkRerank(query, documents, info);
    this.#assertUsable();
    // Its memory was planned when the model was loaded.
    const source = { info, tokenizer, ...this.#textQueue(nativeLimits()) };
    return againAfterCrash(() => rerank(checked, source, signal));
  }

  /** Counters of the engine: running and waiting requests, KV cells, and totals since the start. Throws `disposed`. */
  stats(): NativeStats {
    this.#assertUsable();
    return this.#engine.stats();
  }

  /**
   * The memory of the context for embeddings that `fitModel()` did not plan: none before the first request. Throws `disposed`.
   */
  get embeddingMemory(): MemoryBytes {
    return toMemoryBytes(this.stats().embeddingMemory);
  }

  /**
   * Reports which blocks of tokens other requests can reuse from the KV cache: first all of them, then changes, at most once per
   * step. Only the latest follower gets reports. Throws `invalid_request` unless the model was loaded with `kvBlockSalt`.
   */
  followKvBlocks(onReport: (report: KvBlockReport) => void): KvBlockFollower {
    this.#assertUsable();
    if (this.info.reportsKvBlocks) return this.#receivers.blocks.follow(this.#engine, onReport);
    throw new EngineError(
      "invalid_request",
      "This model does not report the blocks of its KV cache. Load it with `kvBlockSalt`.",
    );
  }

  /** The process in which the engine runs; null for this one. */
  get process(): ModelProcess | null {
    return this.#supervisor ?? null;
  }

  /**
   * Resolves with the reason when the model can no longer be used, although it was not disposed: a worker that holds a part of it was
   * lost (`worker_lost`), or its process crashed and could not load it again. Requests then fail with this error; dispose the model
   * and load it again.
   */
  get lost(): Promise<EngineError> {
    return this.#workers?.lost ?? this.#supervisor?.lost ?? new Promise(() => {});
  }

  /** Whether disposal has begun. */
  get disposed(): boolean {
    return this.#disposal !== undefined;
  }

  /** Ends running generations with `disposed`, waits for the engine's thread, and frees all memory. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal ??= this.#dispose();
    await this.#disposal;
  }

  async #dispose(): Promise<void> {
    await this.#engine.dispose();
    const gone = new EngineError("disposed", "The model was disposed while this generation was running.");
    for (const [id, listener] of this.#receivers.listeners) {
      listener({ id, type: "error", code: "disposed", message: gone.message });
    }
    this.#receivers.listeners.clear();
    this.#native.dispose();
    this.#workers?.[Symbol.dispose]();
  }

  #assertUsable(): void {
    if (this.#disposal !== undefined) {
      throw new EngineError("disposed", "This model was disposed; load it again to use it.");
    }
  }

  #submit(
    request: RequestToSubmit,
    prompt: PromptToSubmit,
    onEvent: (event: NativeEvent) => void,
  ): StartedGeneration {
    const { tokens, audioTokens, read, thought } = prompt;
    const { endThinking, ...started } = this.slots.start(request, tokens, onEvent, (slot, receive) =>
      this.#enqueue((engine) => engine.submit(toNativeRequest(request, prompt, slot)), receive),
    );
    const followed = thought.ends.length === 0 ? {} : { endThinking };
    return { ...started, ...followed, promptTokens: tokens.length, audioTokens, read };
  }

  #textQueue(limits: NativeMemoryLimits): Pick<EmbeddingSource, "start" | "toError"> {
    const start: EmbeddingSource["start"] = (texts, onEvent) =>
      this.#enqueue((engine) => engine.embed(texts, limits), onEvent);
    return { start, toError: toRequestError };
  }

  /** Adds a request to the engine's waiting queue and subscribes to its events. */
  #enqueue(
    submit: (engine: NativeEngine) => number,
    onEvent: (event: NativeEvent) => void,
  ): { cancel: () => void; endThinking: () => void } {
    this.#assertUsable();
    const engine = this.#engine;
    try {
      const id = submit(engine);
      this.#receivers.listeners.set(id, onEvent);
      return { cancel: () => engine.cancel(id), endThinking: () => engine.endThought(id) };
    } catch (thrown) {
      throw toEngineError(thrown);
    }
  }
}

/** Runs an operation without visible partial results, and repeats it once if the engine crashed meanwhile. */
async function againAfterCrash<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isCrash(error)) throw error;
    return await work();
  }
}
