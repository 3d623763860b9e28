// One request in flight, from admission until its response has ended: what it is, its progress, and how to cancel it. Numbers are
// computed only when they are read, so tracking costs a few additions for each piece.
import type { Generation, Model } from "@ingle/engine";
import type { LiveRequest } from "@ingle/protocol";
import { perSecond } from "../protocols/usage.ts";

/** Facts about a request that become known while it runs. */
interface Outcome {
  readonly model?: string;
  readonly promptTokens?: number;
  readonly cachedTokens?: number;
  readonly completionTokens?: number;
}

export interface RequestFacts extends Pick<LiveRequest, "id" | "method" | "path" | "client" | "key"> {
  /** Filled in while the request runs. Read but never kept, because it refers to the messages. */
  outcome: Outcome;
  /** Ends the request; its client gets this error. */
  cancel: (reason: Error) => void;
  /** A monotonic clock, in milliseconds. */
  clock: () => number;
  /** The time of day, in milliseconds. */
  now: () => number;
}

/** A row without the bodies, which the board adds. */
export type RequestRow = Omit<LiveRequest, "body" | "answer">;

export type EndStatus = Extract<LiveRequest["status"], "done" | "failed" | "cancelled">;

/** Shown seconds and speeds are rounded to multiples of 1/step. */
const secondsStep = 1000;
const speedStep = 10;

export class TrackedRequest {
  readonly id: string;
  readonly cancel: RequestFacts["cancel"];
  /** Resolves with its last row. */
  readonly ended: Promise<RequestRow>;
  readonly #facts: RequestFacts;
  readonly #arrivedAt: number;
  readonly #startedAt: number;
  #model: Model | undefined;
  #generations: readonly Generation[] = [];
  #repliesPerPrompt = 1;
  #isEmbedding = false;
  #tokens = 0;
  /** Time and token count of the first piece, and time of the latest one. Undefined before the first. */
  #first: { at: number; tokens: number } | undefined;
  #lastAt = 0;
  #resolve!: (row: RequestRow) => void;

  constructor(facts: RequestFacts) {
    this.#facts = facts;
    this.id = facts.id;
    this.cancel = facts.cancel;
    this.#arrivedAt = facts.clock();
    this.#startedAt = facts.now() / 1000;
    this.ended = new Promise((resolve) => (this.#resolve = resolve));
  }

  /** The model that computes it, once it is known. */
  get model(): Model | undefined {
    return this.#model;
  }

  /** Generations or embeddings that the engine has accepted but not reported on: each may be waiting in its queue. */
  get unstarted(): number {
    if (this.#first !== undefined) return 0;
    if (this.#isEmbedding) return 1;
    return this.#generations.filter((each) => each.promptTokens !== undefined && !each.done).length;
  }

  hasModel(model: Model): void {
    this.#model = model;
  }

  generates(generations: readonly Generation[], repliesPerPrompt: number): void {
    this.#generations = generations;
    this.#repliesPerPrompt = repliesPerPrompt;
  }

  embeds(): void {
    this.#isEmbedding = true;
  }

  /** Records a piece of the response. @param at on the facts' clock */
  piece(tokens: number, at: number): void {
    this.#first ??= { at, tokens };
    this.#tokens += tokens;
    this.#lastAt = at;
  }

  /** The current row. `isQueued`: it waits in the engine's queue. */
  row(isQueued: boolean): RequestRow {
    if (this.#first !== undefined) return this.#rowOf("generating", null);
    const hasBegun = this.#generations.length > 0 || this.#isEmbedding;
    return this.#rowOf(isQueued || !hasBegun ? "waiting" : "prompt", null);
  }

  /** Returns the last row, which holds no reference to the request. */
  end(status: EndStatus, httpStatus: number): RequestRow {
    const row = this.#rowOf(status, httpStatus);
    this.#resolve(row);
    return row;
  }

  #rowOf(status: LiveRequest["status"], httpStatus: number | null): RequestRow {
    const { id, method, path, client, key, outcome, clock } = this.#facts;
    return {
      id,
      method,
      path,
      model: outcome.model ?? null,
      client,
      key,
      status,
      http_status: httpStatus,
      started_at: this.#startedAt,
      seconds: Math.round(clock() - this.#arrivedAt) / secondsStep,
      prompt_tokens: outcome.promptTokens ?? this.#promptTokens(),
      cached_tokens: outcome.cachedTokens ?? null,
      completion_tokens: outcome.completionTokens ?? this.#tokens,
      tokens_per_second: this.#speed(),
      can_cancel: httpStatus === null,
    };
  }

  /** Each prompt counts once; null until all prompts are tokenized. */
  #promptTokens(): number | null {
    const counts = this.#generations
      .filter((_, index) => index % this.#repliesPerPrompt === 0)
      .map(({ promptTokens }) => promptTokens);
    let sum = 0;
    for (const count of counts) {
      if (count === undefined) return null;
      sum += count;
    }
    return counts.length === 0 ? null : sum;
  }

  /** The first piece came with the prompt's last step, so its tokens took no time of their own. */
  #speed(): number | null {
    const first = this.#first;
    if (first === undefined || this.#lastAt <= first.at) return null;
    const speed = perSecond(this.#tokens - first.tokens, this.#lastAt - first.at);
    return Math.round(speed * speedStep) / speedStep;
  }
}
