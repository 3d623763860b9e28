// One generation: a handle that can be awaited for its result or iterated for its pieces, or both.
// Pieces are buffered until somebody iterates; nobody has to. Made by Model.generate().
import { newCallId } from "./call-id.ts";
import type { ToolCall } from "./messages.ts";
import type { NativeEvent, NativeFinishEvent, NativeTokenLogprobs } from "./native.ts";
import { ReplyReader, type ReadReply, type ReplyDelta, type ToolCallDelta } from "./reply-reader.ts";

/** By itself or at a stop string; at a limit of tokens; to have tools called. */
export type FinishReason = "stop" | "length" | "tool_calls";

export interface Usage {
  promptTokens: number;
  completionTokens: number;
  /** Those of the reply that the model spent on thinking; a piece that begins to answer, too, is counted whole. */
  reasoningTokens: number;
  /** Prompt tokens whose state was reused instead of computed. */
  cachedTokens: number;
  /**
   * Tokens of prompt and reply that were dropped because the context was full (`contextOverflow: "shift"`). What was
   * dropped of the prompt before it was read is not in `promptTokens`.
   */
  droppedTokens: number;
  /** Tokens of the reply that speculation guessed and computed, and those of them that were right. */
  draftedTokens: number;
  acceptedTokens: number;
}

/** Milliseconds, measured on the engine's own thread. */
export interface GenerationTimings {
  /** From submission until the prompt's computation began. */
  queueMs: number;
  promptMs: number;
  predictedMs: number;
}

export interface GenerationResult {
  text: string;
  /** What the model thought before it answered; empty when it did not. */
  reasoning: string;
  toolCalls: ToolCall[];
  /** Of every token of the reply, where the request asked for them. */
  logprobs?: readonly TokenLogprobs[];
  finishReason: FinishReason;
  /** The one of the request's `stop` texts that ended the reply; absent when none did. */
  stop?: string;
  usage: Usage;
  timings: GenerationTimings;
}

/** Some text of the reply: whole characters, never a part of a stop string. */
export interface GenerationChunk {
  text: string;
  /** Some of what the model thinks before it answers. */
  reasoning?: string;
  /** Parts of calls: see ToolCallDelta. */
  toolCalls?: readonly ToolCallDelta[];
  /** Tokens behind this piece. */
  tokens: number;
  /** Of these tokens, where the request asked for them. */
  logprobs?: readonly TokenLogprobs[];
}

/** How likely a token was, and the likeliest ones in its place: what the model itself held, before all sampling. */
export type TokenLogprobs = NativeTokenLogprobs;

/** How a generation reaches the engine: handed in by Model, so that this file knows no native code. */
export interface GenerationSource {
  /** Starts the work; events come through `deliver` until a finish or an error. Nobody wants it once the signal is aborted. */
  start(deliver: (event: NativeEvent) => void, signal: AbortSignal): Promise<StartedGeneration>;
}

export interface StartedGeneration {
  cancel: () => void;
  /** Tokens of the prompt. */
  promptTokens: number;
  /** Tells content from reasoning and calls; absent when a reply is nothing but content. */
  read?: ReadReply | undefined;
}

type State =
  | { kind: "running" }
  | { kind: "finished"; result: GenerationResult }
  | { kind: "failed"; error: unknown };

/**
 * Await it for the whole result, or `for await` over it for the pieces. Leaving the loop early cancels the work.
 * An aborted signal rejects both with the signal's reason; a generation that nobody awaits never raises an
 * unhandled rejection.
 */
export class Generation
  implements PromiseLike<GenerationResult>, AsyncIterable<GenerationChunk>, AsyncDisposable
{
  #state: State = { kind: "running" };
  #text = "";
  #reader: ReplyReader | undefined;
  /** Tokens whose piece is not handed on yet, and what is known of them. */
  #tokens = 0;
  #logprobs: TokenLogprobs[] = [];
  readonly #chunks: GenerationChunk[] = [];
  #waiting: (() => void)[] = [];
  #cancelNative: (() => void) | undefined;
  /** Ends what comes before the engine's part. */
  readonly #starting = new AbortController();
  #promptTokens: number | undefined;
  readonly #result: Promise<GenerationResult>;
  #resolve!: (result: GenerationResult) => void;
  #reject!: (error: unknown) => void;
  readonly #toError: (event: Extract<NativeEvent, { type: "error" }>) => unknown;
  readonly #newCallId: () => string;
  readonly #stops: readonly string[];
  readonly #tellsLogprobs: boolean;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => this.#fail(this.#signal?.reason);

  constructor(
    source: GenerationSource,
    options: {
      signal?: AbortSignal | undefined;
      toError: (event: Extract<NativeEvent, { type: "error" }>) => unknown;
      /** Names a call. Default: nine random letters and digits, which is what the templates of Mistral want. */
      newCallId?: () => string;
      /** The stop texts that the caller gave. The model's template may have more, which nobody is told of. */
      stops?: readonly string[];
      /** The result has logprobs, of an empty reply an empty list. Default false. */
      tellsLogprobs?: boolean;
    },
  ) {
    this.#toError = options.toError;
    this.#newCallId = options.newCallId ?? newCallId;
    this.#stops = options.stops ?? [];
    this.#tellsLogprobs = options.tellsLogprobs ?? false;
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
      void this.#run(source); // its own failures end in #fail
    }
  }

  /** True once a result or an error is there. */
  get done(): boolean {
    return this.#state.kind !== "running";
  }

  /**
   * Tokens of the prompt as it was handed to the engine, known before the first piece. Undefined until then. The result's
   * `usage` also tells how many of them were found computed, or dropped.
   */
  get promptTokens(): number | undefined {
    return this.#promptTokens;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- a generation is awaitable by design: one handle for both uses
  then<A = GenerationResult, B = never>(
    onFulfilled?: ((value: GenerationResult) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#result.then(onFulfilled, onRejected);
  }

  /** Ends the work; what is running rejects with `reason`. A second call does nothing. */
  cancel(reason: unknown = new DOMException("The generation was cancelled.", "AbortError")): void {
    this.#fail(reason);
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

  async #run(source: GenerationSource): Promise<void> {
    try {
      const { cancel, promptTokens, read } = await source.start(
        (event) => this.#deliver(event),
        this.#starting.signal,
      );
      this.#cancelNative = cancel;
      this.#promptTokens = promptTokens;
      // Cancelled while it was being prepared: the engine has only now heard of it.
      if (this.#state.kind === "failed") cancel();
      else if (read !== undefined) {
        this.#reader = new ReplyReader({
          read,
          onDelta: (delta) => this.#hand(delta),
          newId: this.#newCallId,
        });
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  #deliver(event: NativeEvent): void {
    if (this.#state.kind !== "running") return;
    if (event.type === "text") {
      this.#tokens += event.tokens;
      if (event.logprobs !== undefined) this.#logprobs.push(...event.logprobs);
      if (this.#reader === undefined) this.#hand({ text: event.text, reasoning: "", toolCalls: [] });
      else this.#reader.push(event.text);
    } else if (event.type === "error") {
      this.#settle({ kind: "failed", error: this.#toError(event) });
    } else if (event.type === "finish" && event.reason !== "cancelled") {
      void this.#finish(event, event.reason); // its own failures end in #fail
    }
  }

  /** Hands a piece on to whoever iterates. */
  #hand({ text, reasoning, toolCalls }: ReplyDelta): void {
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
      // Marks of the syntax at the end are part of the reply, though no piece shows them.
      if (this.#logprobs.length > 0) this.#hand({ text: "", reasoning: "", toolCalls: [] });
    } catch (error) {
      this.#fail(error);
    }
    if (this.#state.kind === "running")
      this.#settle({ kind: "finished", result: this.#toResult(event, reason) });
  }

  #toResult(event: NativeFinishEvent, reason: "stop" | "length"): GenerationResult {
    const { promptTokens, completionTokens, cachedTokens, droppedTokens, draftedTokens, acceptedTokens } =
      event;
    const { queueMs, promptMs, predictedMs } = event;
    const { reasoning = "", toolCalls = [] } = this.#reader?.sure ?? {};
    const logprobs = this.#chunks.flatMap((chunk) => chunk.logprobs ?? []);
    const reasoningTokens = this.#chunks.reduce(
      (sum, chunk) => sum + (chunk.reasoning === undefined ? 0 : chunk.tokens),
      0,
    );
    return {
      text: this.#text,
      reasoning,
      toolCalls: [...toolCalls],
      ...(this.#tellsLogprobs ? { logprobs } : {}),
      finishReason: reason === "stop" && toolCalls.length > 0 ? "tool_calls" : reason,
      ...(this.#stops.includes(event.stop) ? { stop: event.stop } : {}),
      usage: {
        promptTokens,
        completionTokens,
        reasoningTokens,
        cachedTokens,
        droppedTokens,
        draftedTokens,
        acceptedTokens,
      },
      timings: { queueMs, promptMs, predictedMs },
    };
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

  /** Wakes every iterator that has seen all pieces so far. */
  #notify(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}
