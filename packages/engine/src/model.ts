// A loaded model with its engine: prepares prompts, submits generations, hands the engine's events to them.
// Made by load(); lives until it is disposed.
import { randomInt } from "node:crypto";
import { abortedWith } from "./aborted-with.ts";
import { EngineError } from "./errors.ts";
import { prepareForTemplate } from "./chat-preparation.ts";
import {
  checkEmbeddingRequest,
  embed,
  type EmbeddingInput,
  type EmbeddingResult,
  type EmbedOptions,
} from "./embeddings.ts";
import { Generation, type StartedGeneration } from "./generation.ts";
import {
  checkGenerationRequest,
  type CheckedGenerationRequest,
  type GenerationRequest,
} from "./generation-request.ts";
import { imagePrompt, imageNotSupported } from "./image-prompt.ts";
import { KvBlockReports, type KvBlockFollower, type KvBlockReport } from "./kv-blocks.ts";
import { countImages } from "./messages.ts";
import {
  fromNative,
  toEngineError,
  type NativeBlocksEvent,
  type NativeConstraint,
  type NativeEngine,
  type NativeEngineOptions,
  type NativeEvent,
  type NativeImages,
  type NativeModel,
  type NativeModelInfo,
  type NativeStats,
} from "./native.ts";
import { Processor } from "./processor.ts";
import { readContent, type ReadReply } from "./reply-reader.ts";
import { wholeGrammar } from "./response-format.ts";
import { Tokenizer } from "./tokenizer.ts";
import type { WorkersLease } from "./workers/worker-pool.ts";

export interface ModelInfo extends NativeModelInfo {
  /** Most tokens of prompt and reply together, for one request. */
  contextLength: number;
  /** Requests that are computed at the same time. */
  parallel: number;
  threads: number;
  /** What a token takes of the KV cache. 0 where the model has none. */
  kvBytesPerToken: number;
  /** It was loaded with `kvBlockSalt`: `followKvBlocks()` tells of what can be reused. */
  reportsKvBlocks: boolean;
}

export interface GenerateOptions {
  signal?: AbortSignal | undefined;
  /** Requests with the same key wait in line; different keys share the engine fairly. */
  client?: string | undefined;
}

/** What is computed before a reply, and what the reply must look like. */
interface PreparedPrompt {
  tokens: Int32Array;
  images: NativeImages | null;
  stops: string[];
  constraint: NativeConstraint | null;
  read?: ReadReply | undefined;
}

export class Model implements AsyncDisposable {
  readonly info: ModelInfo;
  readonly tokenizer: Tokenizer;
  /** Writes conversations with pictures out. Null where the model reads none. */
  readonly processor: Processor | null;
  readonly #native: NativeModel;
  readonly #engine: NativeEngine;
  readonly #listeners: Map<number, (event: NativeEvent) => void>;
  readonly #blocks: KvBlockReports;
  readonly #workers: WorkersLease | undefined;
  #disposal: Promise<void> | undefined;

  private constructor(
    native: NativeModel,
    engine: NativeEngine,
    { listeners, blocks }: EventReceivers,
    { options, workers }: { options: NativeEngineOptions; workers: WorkersLease | undefined },
  ) {
    this.#native = native;
    this.#engine = engine;
    this.#listeners = listeners;
    this.#blocks = blocks;
    this.#workers = workers;
    this.tokenizer = new Tokenizer(native);
    const { readsImages, imageMarker } = native.info;
    this.processor = readsImages ? new Processor(this.tokenizer, imageMarker) : null;
    this.info = {
      ...native.info,
      contextLength: options.contextLength,
      parallel: options.parallel,
      threads: options.threads,
      kvBytesPerToken: engine.stats().cellBytes,
      reportsKvBlocks: options.kvBlockTokens > 0,
    };
  }

  /** Starts an engine on a loaded native model and owns all from then on, but for a draft model, which stays the caller's. */
  static async start(
    native: NativeModel,
    options: NativeEngineOptions,
    { draftModel, workers }: { draftModel?: NativeModel; workers?: WorkersLease | undefined } = {},
  ): Promise<Model> {
    const receivers: EventReceivers = { listeners: new Map(), blocks: new KvBlockReports() };
    const onEvents = (events: readonly (NativeEvent | NativeBlocksEvent)[]): void =>
      deliver(events, receivers);
    const engine = await fromNative(native.createEngine(options, onEvents, draftModel));
    return new Model(native, engine, receivers, { options, workers });
  }

  /** Begins a generation at once. Bad requests throw `invalid_request`; everything else arrives on the handle. */
  generate(request: GenerationRequest, options: GenerateOptions = {}): Generation {
    const checked = checkGenerationRequest(request);
    this.#assertUsable();
    return new Generation(
      {
        start: async (onEvent, signal) => {
          const prompt = await this.#prepare(checked, signal);
          signal.throwIfAborted();
          return this.#submit(checked, prompt, options.client ?? "", onEvent);
        },
      },
      {
        signal: options.signal,
        stops: checked.stop,
        tellsLogprobs: checked.logprobs !== undefined,
        toError: errorOf,
      },
    );
  }

  /** The tokens that `generate` would compute for a request before its reply. Throws what that generation would. */
  async promptTokens(
    request: GenerationRequest,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<Int32Array> {
    const checked = checkGenerationRequest(request);
    signal?.throwIfAborted();
    this.#assertUsable();
    const { tokens } = await this.#prepare(checked, signal);
    signal?.throwIfAborted();
    return tokens;
  }

  /**
   * Vectors of texts: what is near in meaning is near in direction, so that the dot product of two normalized vectors
   * says how alike their texts are. At most 2,048 texts; a text is never cut.
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
      tokensOf: async (input: EmbeddingInput) =>
        typeof input === "string" ? this.tokenizer.encode(input) : Int32Array.from(input),
      start: (texts: Int32Array[], onEvent: (event: NativeEvent) => void) =>
        this.#inLine((engine) => engine.embed(texts), onEvent),
      toError: errorOf,
    };
    this.#assertUsable();
    return embed(checked, source, options.signal);
  }

  /** Counters of the engine: what runs, what waits, how full the cache is. */
  stats(): NativeStats {
    this.#assertUsable();
    return this.#engine.stats();
  }

  /**
   * Tells which blocks of tokens another request could reuse from the KV cache: everything first, then what has changed, at most
   * once a step of the engine. Of a model that was loaded with `kvBlockSalt`; `invalid_request` without. The last follower
   * alone is told.
   */
  followKvBlocks(onReport: (report: KvBlockReport) => void): KvBlockFollower {
    this.#assertUsable();
    if (this.info.reportsKvBlocks) return this.#blocks.follow(this.#engine, onReport);
    throw new EngineError(
      "invalid_request",
      "This model does not report the blocks of its KV cache. Load it with `kvBlockSalt`.",
    );
  }

  /**
   * Resolves with `worker_lost` when a machine that holds a part of the model is gone: whatever runs ends with that code, and
   * whatever is asked later, too. Load the model again. Never, for a model of this machine alone.
   */
  get workerLost(): Promise<EngineError> {
    return this.#workers?.lost ?? new Promise(() => {});
  }

  get disposed(): boolean {
    return this.#disposal !== undefined;
  }

  /** Ends running generations with `disposed` and frees everything. Idempotent; waits for the engine's thread. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal ??= this.#dispose();
    await this.#disposal;
  }

  async #dispose(): Promise<void> {
    await this.#engine.dispose();
    const gone = new EngineError("disposed", "The model was disposed while this generation was running.");
    for (const [id, listener] of this.#listeners) {
      listener({ id, type: "error", code: "disposed", message: gone.message });
    }
    this.#listeners.clear();
    this.#native.dispose();
    this.#workers?.[Symbol.dispose]();
  }

  #assertUsable(): void {
    if (this.#disposal !== undefined) {
      throw new EngineError("disposed", "This model was disposed; load it again to use it.");
    }
  }

  async #prepare(request: CheckedGenerationRequest, signal?: AbortSignal): Promise<PreparedPrompt> {
    if (request.messages === undefined) {
      const { tokens, images } = await imagePrompt(request, this.tokenizer, this.#native);
      return { tokens, images, stops: [], constraint: await this.#constraintOf(request) };
    }
    if (countImages(request.messages) > 0 && !this.info.readsImages) throw imageNotSupported("messages");
    const { chat, read } = prepareForTemplate(request, this.#native.info.chatTemplate);
    const preparation = this.#native.prepareChat(chat);
    const { parser, ...prompt } = await abortedWith(
      signal,
      () => preparation.abort(),
      ofParam(request, preparation.prompt),
    );
    if (parser === null || (read !== undefined && !chat.contentHasCalls)) return { ...prompt, read };
    const parse: ReadReply = (text, isPartial) => this.#native.parseReply(parser, text, isPartial);
    return { ...prompt, read: read === undefined ? parse : readContent(parse, read) };
  }

  async #constraintOf(request: CheckedGenerationRequest): Promise<NativeConstraint | null> {
    const grammar = wholeGrammar(request.responseFormat);
    return grammar === "" ? null : ofParam(request, this.#native.prepareGrammar(grammar));
  }

  #submit(
    request: CheckedGenerationRequest,
    prompt: PreparedPrompt,
    client: string,
    onEvent: (event: NativeEvent) => void,
  ): StartedGeneration {
    const submit = (engine: NativeEngine): number =>
      engine.submit({
        tokens: prompt.tokens,
        images: prompt.images,
        sampling: {
          temperature: request.temperature,
          topK: Math.max(0, request.topK),
          topP: request.topP,
          minP: request.minP,
          repeatPenalty: request.repetitionPenalty,
          repeatLastN: request.repeatLastN,
          presencePenalty: request.presencePenalty,
          frequencyPenalty: request.frequencyPenalty,
          seed: foldSeed(request.seed),
          logitBias: flatBias(request.logitBias),
        },
        maxTokens: request.maxTokens ?? -1,
        stops: [...request.stop, ...prompt.stops],
        ignoreEos: request.ignoreEos,
        cachePrompt: request.cachePrompt,
        constraint: prompt.constraint,
        logprobs: request.logprobs ?? -1,
        client,
      });
    return { ...this.#inLine(submit, onEvent), promptTokens: prompt.tokens.length, read: prompt.read };
  }

  /** Puts a request in the engine's line and listens to what comes of it. */
  #inLine(
    submit: (engine: NativeEngine) => number,
    onEvent: (event: NativeEvent) => void,
  ): { cancel: () => void } {
    this.#assertUsable();
    const engine = this.#engine;
    try {
      const id = submit(engine);
      this.#listeners.set(id, onEvent);
      return { cancel: () => engine.cancel(id) };
    } catch (thrown) {
      throw toEngineError(thrown);
    }
  }
}

function errorOf({ code, message }: Extract<NativeEvent, { type: "error" }>): unknown {
  return toEngineError(Object.assign(new Error(message), { code }));
}

/** Awaits a native promise. What is wrong with a grammar is wrong with the field that it comes from. */
async function ofParam<T>({ responseFormat }: CheckedGenerationRequest, pending: Promise<T>): Promise<T> {
  try {
    return await fromNative(pending);
  } catch (error) {
    if (!EngineError.is(error) || error.code !== "invalid_request") throw error;
    const param = {
      text: "tools",
      grammar: "responseFormat.grammar",
      json: "responseFormat",
      json_schema: "responseFormat",
    };
    throw new EngineError(error.code, error.message, {
      cause: error,
      details: { param: param[responseFormat.type] },
    });
  }
}

/** Who hears of an engine's events: requests by their ids, and the one who follows its blocks. */
interface EventReceivers {
  readonly listeners: Map<number, (event: NativeEvent) => void>;
  readonly blocks: KvBlockReports;
}

/** Hands one step's events to their generations. The native side calls this once a step at most. */
function deliver(
  events: readonly (NativeEvent | NativeBlocksEvent)[],
  { listeners, blocks }: EventReceivers,
): void {
  for (const event of events) {
    if (event.type === "blocks") {
      blocks.deliver(event);
      continue;
    }
    const listener = listeners.get(event.id);
    if (event.type !== "text") listeners.delete(event.id);
    listener?.(event);
  }
}

/** Any safe integer becomes the sampler's 32 bits; both halves count, so that large seeds differ too. */
function foldSeed(seed: number | undefined): number {
  if (seed === undefined) return randomInt(0x1_0000_0000);
  const high = Math.floor(seed / 0x1_0000_0000);
  return ((seed % 0x1_0000_0000) ^ high) >>> 0;
}

/** A bias of -100 bans a token, as the field's convention has it. */
function flatBias(bias: Record<string, number> | undefined): Float64Array {
  const entries = Object.entries(bias ?? {});
  const flat = new Float64Array(entries.length * 2);
  for (const [index, [token, value]] of entries.entries()) {
    flat[index * 2] = Number(token);
    flat[index * 2 + 1] = value <= -100 ? -Infinity : value;
  }
  return flat;
}
