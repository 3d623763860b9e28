// A loaded model with its engine: prepares prompts, submits generations, hands the engine's events to them.
// Made by load(); lives until it is disposed.
import { randomInt } from "node:crypto";
import { EngineError } from "./errors.ts";
import { Generation } from "./generation.ts";
import {
  checkGenerationRequest,
  type CheckedGenerationRequest,
  type GenerationRequest,
} from "./generation-request.ts";
import {
  fromNative,
  toEngineError,
  type NativeEngine,
  type NativeEngineOptions,
  type NativeEvent,
  type NativeModel,
  type NativeModelInfo,
  type NativePrompt,
  type NativeStats,
} from "./native.ts";
import { Tokenizer } from "./tokenizer.ts";

export interface ModelInfo extends NativeModelInfo {
  /** Most tokens of prompt and reply together, for one request. */
  contextLength: number;
  /** Requests that are computed at the same time. */
  parallel: number;
  threads: number;
}

export interface GenerateOptions {
  signal?: AbortSignal | undefined;
  /** Requests with the same key wait in line; different keys share the engine fairly. */
  client?: string | undefined;
}

export class Model implements AsyncDisposable {
  readonly info: ModelInfo;
  readonly tokenizer: Tokenizer;
  readonly #native: NativeModel;
  readonly #engine: NativeEngine;
  readonly #listeners: Map<number, (event: NativeEvent) => void>;
  #disposal: Promise<void> | undefined;

  private constructor(
    native: NativeModel,
    engine: NativeEngine,
    listeners: Map<number, (event: NativeEvent) => void>,
    options: NativeEngineOptions,
  ) {
    this.#native = native;
    this.#engine = engine;
    this.#listeners = listeners;
    this.tokenizer = new Tokenizer(native);
    this.info = {
      ...native.info,
      contextLength: options.contextLength,
      parallel: options.parallel,
      threads: options.threads,
    };
  }

  /** Starts an engine on a loaded native model and owns both from then on. */
  static async start(native: NativeModel, options: NativeEngineOptions): Promise<Model> {
    const listeners = new Map<number, (event: NativeEvent) => void>();
    const engine = await fromNative(native.createEngine(options, (events) => deliver(events, listeners)));
    return new Model(native, engine, listeners, options);
  }

  /** Begins a generation at once. Bad requests throw `invalid_request`; everything else arrives on the handle. */
  generate(request: GenerationRequest, options: GenerateOptions = {}): Generation {
    const checked = checkGenerationRequest(request);
    this.#assertUsable();
    return new Generation(
      {
        start: async (onEvent) => {
          const prompt = await this.#prepare(checked);
          options.signal?.throwIfAborted();
          this.#assertUsable();
          return this.#submit(checked, prompt, options.client ?? "", onEvent);
        },
      },
      {
        signal: options.signal,
        toError: ({ code, message }) => toEngineError(Object.assign(new Error(message), { code })),
      },
    );
  }

  /** Counters of the engine: what runs, what waits, how full the cache is. */
  stats(): NativeStats {
    this.#assertUsable();
    return this.#engine.stats();
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
  }

  #assertUsable(): void {
    if (this.#disposal !== undefined) {
      throw new EngineError("disposed", "This model was disposed; load it again to use it.");
    }
  }

  async #prepare(request: CheckedGenerationRequest): Promise<NativePrompt> {
    if (request.messages !== undefined) {
      return fromNative(this.#native.prepareChat({ messages: request.messages, addGenerationPrompt: true }));
    }
    if (typeof request.prompt === "string") {
      const tokens = await this.tokenizer.encode(request.prompt);
      return { tokens, stops: [] };
    }
    const tokens = Int32Array.from(request.prompt);
    const outside = tokens.find((token) => token >= this.#native.info.vocabularySize);
    if (outside === undefined) return { tokens, stops: [] };
    throw new EngineError("invalid_request", `prompt: token ${outside} is outside this model's vocabulary.`, {
      details: { param: "prompt" },
    });
  }

  #submit(
    request: CheckedGenerationRequest,
    prompt: NativePrompt,
    client: string,
    onEvent: (event: NativeEvent) => void,
  ): () => void {
    const engine = this.#engine;
    try {
      const id = engine.submit({
        tokens: prompt.tokens,
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
        client,
      });
      this.#listeners.set(id, onEvent);
      return () => engine.cancel(id);
    } catch (thrown) {
      throw toEngineError(thrown);
    }
  }
}

/** Hands one turn's events to their generations. The native side calls this once a turn at most. */
function deliver(events: readonly NativeEvent[], listeners: Map<number, (event: NativeEvent) => void>): void {
  for (const event of events) {
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
