// One generation: a handle to await for the result, to iterate for the pieces, or both. Pieces are buffered, so nobody has to
// iterate.
import { randomBytes } from "node:crypto";
import { isCrash } from "../base/errors.ts";
import type { NativeEvent, NativeFinishEvent, NativePromptEvent } from "../native/addon.ts";
import type {
  GenerationChunk,
  GenerationResult,
  PromptTokenLogprobs,
  TokenLogprobs,
} from "./generation-result.ts";
import { ReplyReader, type ReadReply, type ReplyDelta } from "./reply-reader.ts";

/** The engine as this file needs it; `Model` implements it. */
interface GenerationSource {
  /** Starts the work; `deliver` gets its events, the last of which is a finish or an error. An aborted signal ends it. */
  start(deliver: (event: NativeEvent) => void, signal: AbortSignal): Promise<StartedGeneration>;
}

export interface StartedGeneration {
  cancel: () => void;
  /** Ends the thought of the reply; undefined where the engine does not follow thoughts. */
  endThinking?: (() => void) | undefined;
  /** Its slot of `Model.slots`. */
  idSlot: number;
  /** Tokens of the prompt. */
  promptTokens: number;
  /** How many of them stand for audio. */
  audioTokens: number;
  /** Parses content, reasoning and calls; absent if the whole reply is content. */
  read?: ReadReply | undefined;
}

/** What a request asks for beside the reply itself. All are false by default. */
interface Requested {
  /** Whether the result has `logprobs`, even if empty. */
  hasLogprobs: boolean;
  /** Whether it has `promptLogprobs`. */
  hasPromptLogprobs: boolean;
  /** Whether chunks report how much of the prompt is computed. */
  reportsPrompt: boolean;
  /** Whether only the prompt is computed. The engine's reply of one token is then dropped. */
  isPromptOnly: boolean;
}

type State =
  | { kind: "running" }
  | { kind: "finished"; result: GenerationResult }
  | { kind: "failed"; error: unknown };

/**
 * Await it for the whole result, or `for await` over it for the pieces. Breaking out of the loop cancels the generation. Aborting
 * the signal rejects both with the signal's reason. A failed generation that nobody awaits is not an unhandled rejection.
 *
 * Fails with `context_length_exceeded`, `overloaded`, `out_of_memory`, `template_failed`, `engine_failed`, `engine_crashed`,
 * `worker_lost` or `disposed`.
 */
export class Generation
  implements PromiseLike<GenerationResult>, AsyncIterable<GenerationChunk>, AsyncDisposable
{
  #state: State = { kind: "running" };
  #text = "";
  #reader: ReplyReader | undefined;
  /** Tokens since the last chunk, and their log probabilities. */
  #tokens = 0;
  #logprobs: TokenLogprobs[] = [];
  readonly #chunks: GenerationChunk[] = [];
  #waiting: (() => void)[] = [];
  #cancelNative: (() => void) | undefined;
  #endThinking: (() => void) | undefined;
  /** Aborts the preparation of the prompt. */
  readonly #starting = new AbortController();
  #promptTokens: number | undefined;
  #idSlot: number | undefined;
  #audioTokens = 0;
  readonly #result: Promise<GenerationResult>;
  #resolve!: (result: GenerationResult) => void;
  #reject!: (error: unknown) => void;
  readonly #toError: (event: Extract<NativeEvent, { type: "error" }>) => unknown;
  readonly #newCallId: () => string;
  readonly #stops: readonly string[];
  readonly #requested: Requested;
  readonly #promptLogprobs: PromptTokenLogprobs[] = [];
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => this.#fail(this.#signal?.reason);
  readonly #source: GenerationSource;
  #hasRestarted = false;

  constructor(
    source: GenerationSource,
    options: {
      signal?: AbortSignal | undefined;
      toError: (event: Extract<NativeEvent, { type: "error" }>) => unknown;
      /** Creates the id of a tool call. Default: nine random letters and digits, as Mistral's templates require. */
      newCallId?: () => string;
      /** The caller's stop strings. The chat template may have others, which results do not report. */
      stops?: readonly string[];
    } & Partial<Requested>,
  ) {
    this.#source = source;
    this.#toError = options.toError;
    this.#newCallId = options.newCallId ?? newCallId;
    this.#stops = options.stops ?? [];
    this.#requested = {
      hasLogprobs: options.hasLogprobs ?? false,
      hasPromptLogprobs: options.hasPromptLogprobs ?? false,
      reportsPrompt: options.reportsPrompt ?? false,
      isPromptOnly: options.isPromptOnly ?? false,
    };
    this.#signal = options.signal;
    this.#result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Awaiting is optional: without this, a failed generation that is only iterated would be an unhandled rejection.
    this.#result.catch(() => {});
    if (this.#signal?.aborted) this.#fail(this.#signal.reason);
    else {
      this.#signal?.addEventListener("abort", this.#onAbort, { once: true });
      void this.#run(); // its own failures end in #fail
    }
  }

  /** Whether the generation has ended, with a result or an error. */
  get done(): boolean {
    return this.#state.kind !== "running";
  }

  /**
   * Tokens of the prompt; undefined until it is tokenized, which is before the first piece. The result's `usage` also has how many
   * of them were cached or dropped.
   */
  get promptTokens(): number | undefined {
    return this.#promptTokens;
  }

  /** Its slot of `Model.slots`; undefined until it is submitted, which is before the first piece. */
  get idSlot(): number | undefined {
    return this.#idSlot;
  }

  /** Log probabilities of the prompt's tokens, if requested: complete before the first piece of the reply. */
  get promptLogprobs(): readonly PromptTokenLogprobs[] {
    return this.#promptLogprobs;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- a generation is awaitable by design: one handle for both uses
  then<A = GenerationResult, B = never>(
    onFulfilled?: ((value: GenerationResult) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#result.then(onFulfilled, onRejected);
  }

  /** Ends the generation, which rejects with `reason` (default: an `AbortError`). Does nothing once it has ended. */
  cancel(reason: unknown = new DOMException("The generation was cancelled.", "AbortError")): void {
    this.#fail(reason);
  }

  /**
   * Ends the thought that the model is in, from its next token on, so that it replies now. Does nothing where it is not in one. False if the
   * engine cannot end it: the prompt is not submitted yet, the reply has ended, or nobody knows how the model's thoughts end.
   */
  endThinking(): boolean {
    if (this.#state.kind !== "running" || this.#endThinking === undefined) return false;
    this.#endThinking();
    return true;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<GenerationChunk, void, undefined> {
    try {
      for (let next = 0; ;) {
        const chunk = this.#chunks[next];
        if (chunk !== undefined) {
          next += 1;
          yield chunk;
          continue;
        }
        if (this.#state.kind === "finished") return;
        if (this.#state.kind === "failed") throw this.#state.error;
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
      }
    } finally {
      this.cancel();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cancel();
  }

  async #run(): Promise<void> {
    try {
      const { cancel, endThinking, idSlot, promptTokens, audioTokens, read } = await this.#source.start(
        (event) => this.#deliver(event),
        this.#starting.signal,
      );
      this.#cancelNative = cancel;
      this.#endThinking = endThinking;
      this.#idSlot = idSlot;
      this.#promptTokens = promptTokens;
      this.#audioTokens = audioTokens;
      // It was cancelled while the prompt was being prepared, before the engine had the request.
      if (this.#state.kind === "failed") cancel();
      else if (read !== undefined) {
        this.#reader = new ReplyReader({
          read,
          onDelta: (delta) => this.#emit(delta),
          newId: this.#newCallId,
        });
      }
    } catch (error) {
      this.#failOrRestart(error);
    }
  }

  #deliver(event: NativeEvent): void {
    if (this.#state.kind !== "running") return;
    if (event.type === "prompt") this.#notePrompt(event);
    else if (event.type === "text") {
      if (this.#requested.isPromptOnly) return;
      this.#tokens += event.tokens;
      if (event.logprobs !== undefined) this.#logprobs.push(...event.logprobs);
      if (this.#reader === undefined) this.#emit({ text: event.text, reasoning: "", toolCalls: [] });
      else this.#reader.push(event.text);
    } else if (event.type === "error") {
      this.#cancelNative = undefined;
      this.#failOrRestart(this.#toError(event));
    } else if (event.type === "finish" && event.reason !== "cancelled") {
      void this.#finish(event, event.reason); // its own failures end in #fail
    }
  }

  #notePrompt({ logprobs = [], promptTokens, cachedTokens, computedTokens, ms }: NativePromptEvent): void {
    for (const { logprob, ...token } of logprobs)
      this.#promptLogprobs.push({ ...token, logprob: Number.isNaN(logprob) ? null : logprob });
    if (!this.#requested.reportsPrompt) return;
    this.#chunks.push({ text: "", tokens: 0, prompt: { promptTokens, cachedTokens, computedTokens, ms } });
    this.#notify();
  }

  /** Buffers a piece and wakes the iterators. */
  #emit({ text, reasoning, toolCalls }: ReplyDelta): void {
    this.#text += text;
    this.#chunks.push({
      text,
      tokens: this.#tokens,
      ...(reasoning === "" ? {} : { reasoning }),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
      ...(this.#logprobs.length === 0 ? {} : { logprobs: this.#logprobs }),
    });
    this.#tokens = 0;
    this.#logprobs = [];
    this.#notify();
  }

  async #finish(event: NativeFinishEvent, reason: "stop" | "length"): Promise<void> {
    try {
      await this.#reader?.finish(reason === "length");
      // Syntax tokens at the end belong to the reply, though no piece contains them.
      if (this.#logprobs.length > 0) this.#emit({ text: "", reasoning: "", toolCalls: [] });
    } catch (error) {
      return this.#failOrRestart(error);
    }
    if (this.#state.kind === "running")
      this.#settle({ kind: "finished", result: this.#toResult(event, reason) });
  }

  #toResult(event: NativeFinishEvent, reason: "stop" | "length"): GenerationResult {
    const { id: _id, type: _type, reason: _reason, stop, queueMs, promptMs, predictedMs, ...counts } = event;
    const { reasoning = "", toolCalls = [] } = this.#reader?.sure ?? {};
    const logprobs = this.#chunks.flatMap((chunk) => chunk.logprobs ?? []);
    const reasoningTokens =
      this.#endThinking === undefined
        ? this.#chunks.reduce((sum, chunk) => sum + (chunk.reasoning === undefined ? 0 : chunk.tokens), 0)
        : counts.reasoningTokens;
    const { hasLogprobs, hasPromptLogprobs, isPromptOnly } = this.#requested;
    const usage = isPromptOnly ? { ...counts, completionTokens: 0 } : counts;
    return {
      text: this.#text,
      reasoning,
      toolCalls: [...toolCalls],
      ...(hasLogprobs ? { logprobs } : {}),
      ...(hasPromptLogprobs ? { promptLogprobs: this.#promptLogprobs } : {}),
      finishReason: isPromptOnly
        ? "length"
        : reason === "stop" && toolCalls.length > 0
          ? "tool_calls"
          : reason,
      ...(this.#stops.includes(stop) ? { stop } : {}),
      usage: { ...usage, audioTokens: this.#audioTokens, reasoningTokens },
      timings: { queueMs, promptMs, predictedMs },
    };
  }

  /** Fails the generation. But if the engine crashed before anybody saw a piece of the reply, the reply is restarted once. */
  #failOrRestart(error: unknown): void {
    const isUnseen = this.#chunks.every(({ prompt }) => prompt !== undefined) && !this.#hasRestarted;
    if (this.#state.kind !== "running" || !isUnseen || !isCrash(error)) return this.#fail(error);
    this.#hasRestarted = true;
    this.#reader?.close();
    this.#reader = undefined;
    this.#tokens = 0;
    this.#logprobs = [];
    this.#promptLogprobs.length = 0;
    void this.#run(); // its own failures end in #fail
  }

  #fail(error: unknown): void {
    if (this.#state.kind !== "running") return;
    this.#starting.abort(error);
    this.#cancelNative?.();
    this.#settle({ kind: "failed", error });
  }

  #settle(state: Exclude<State, { kind: "running" }>): void {
    this.#state = state;
    this.#reader?.close();
    this.#signal?.removeEventListener("abort", this.#onAbort);
    if (state.kind === "finished") this.#resolve(state.result);
    else this.#reject(state.error);
    this.#notify();
  }

  /** Wakes the iterators that wait for the next piece. */
  #notify(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}

const callIdCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/** Mistral's chat templates require exactly nine letters and digits; all others accept them. */
const callIdLength = 9;

/** A random id of a tool call: among a million ids, the chance that two are equal is one in thirty thousand. */
export function newCallId(): string {
  let id = "";
  while (id.length < callIdLength) {
    // Drop bytes that would make some characters likelier than others.
    for (const byte of randomBytes(callIdLength)) {
      if (id.length < callIdLength && byte < 256 - (256 % callIdCharacters.length))
        id += callIdCharacters[byte % callIdCharacters.length];
    }
  }
  return id;
}
