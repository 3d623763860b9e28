// One generation: a handle that can be awaited for its result or iterated for its pieces, or both.
// Pieces are buffered until somebody iterates; nobody has to. Made by Model.generate().
import type { NativeEvent, NativeFinishEvent } from "./native.ts";

export type FinishReason = "stop" | "length";

export interface Usage {
  promptTokens: number;
  completionTokens: number;
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
  finishReason: FinishReason;
  usage: Usage;
  timings: GenerationTimings;
}

/** Some text of the reply: whole characters, never a part of a stop string. */
export interface GenerationChunk {
  text: string;
  /** Tokens behind this text. */
  tokens: number;
}

/** How a generation reaches the engine: handed in by Model, so that this file knows no native code. */
export interface GenerationSource {
  /** Starts the work; events come through `deliver` until a finish or an error. Resolves with a cancel function. */
  start(deliver: (event: NativeEvent) => void): Promise<() => void>;
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
  readonly #chunks: GenerationChunk[] = [];
  #waiting: (() => void)[] = [];
  #cancelNative: (() => void) | undefined;
  readonly #result: Promise<GenerationResult>;
  #resolve!: (result: GenerationResult) => void;
  #reject!: (error: unknown) => void;
  readonly #toError: (event: Extract<NativeEvent, { type: "error" }>) => unknown;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => this.#fail(this.#signal?.reason);

  constructor(
    source: GenerationSource,
    options: {
      signal?: AbortSignal | undefined;
      toError: (event: Extract<NativeEvent, { type: "error" }>) => unknown;
    },
  ) {
    this.#toError = options.toError;
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
      const cancel = await source.start((event) => this.#deliver(event));
      this.#cancelNative = cancel;
      // Cancelled while it was being prepared: the engine has only now heard of it.
      if (this.#state.kind === "failed") cancel();
    } catch (error) {
      this.#fail(error);
    }
  }

  #deliver(event: NativeEvent): void {
    if (this.#state.kind !== "running") return;
    if (event.type === "text") {
      this.#text += event.text;
      this.#chunks.push({ text: event.text, tokens: event.tokens });
      this.#notify();
    } else if (event.type === "error") {
      this.#settle({ kind: "failed", error: this.#toError(event) });
    } else if (event.reason !== "cancelled") {
      this.#settle({ kind: "finished", result: this.#toResult(event, event.reason) });
    }
  }

  #toResult(event: NativeFinishEvent, finishReason: FinishReason): GenerationResult {
    const { promptTokens, completionTokens, cachedTokens, droppedTokens, draftedTokens, acceptedTokens } =
      event;
    const { queueMs, promptMs, predictedMs } = event;
    return {
      text: this.#text,
      finishReason,
      usage: { promptTokens, completionTokens, cachedTokens, droppedTokens, draftedTokens, acceptedTokens },
      timings: { queueMs, promptMs, predictedMs },
    };
  }

  #fail(error: unknown): void {
    if (this.#state.kind !== "running") return;
    this.#cancelNative?.();
    this.#settle({ kind: "failed", error });
  }

  #settle(state: Exclude<State, { kind: "running" }>): void {
    this.#state = state;
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
