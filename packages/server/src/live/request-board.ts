// The requests in flight and the last ones that ended, for GET /api/v1/events and for managing single requests. Both listeners of the app
// share one board. Rows are only built, and numbers only computed, when they are read: tracking costs a few additions for each piece.
import { finishedRequestsMax, type LiveRequest } from "@ingle/protocol";
import { WireError } from "../wire-error.ts";
import { KeptBodies } from "./kept-bodies.ts";
import { KeyMeters, type KeyMeter } from "../access/key-usage.ts";
import type { Generation, Model } from "@ingle/engine";
import { perSecond } from "../seconds.ts";

/** Facts about a request that become known while it runs. */
interface Outcome {
  readonly model?: string;
  readonly promptTokens?: number;
  readonly cachedTokens?: number;
  readonly completionTokens?: number;
  readonly generation?: { readonly responseId?: string | undefined };
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
  /** The digest of its key; null without one. */
  keyDigest: string | null;
  /** Counts what its key uses. Absent: nobody does. */
  meter?: KeyMeter | undefined;
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
  /** Tokens of the prompt that its key's meter has. */
  #metered = 0;
  #resolve!: (row: RequestRow) => void;

  constructor(facts: RequestFacts) {
    this.#facts = facts;
    this.id = facts.id;
    this.cancel = facts.cancel;
    this.#arrivedAt = facts.clock();
    this.#startedAt = facts.now() / 1000;
    this.ended = new Promise((resolve) => (this.#resolve = resolve));
  }

  isOf(keyDigest: string | null): boolean {
    return this.#facts.keyDigest === keyDigest;
  }

  /** Whether its response has this id. */
  hasResponse(id: string): boolean {
    return this.#facts.outcome.generation?.responseId === id;
  }

  /** Ends the thoughts of its replies. False if none of them can be ended. */
  endThinking(): boolean {
    return this.#generations.filter((each) => each.endThinking()).length > 0;
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
    if (this.#first === undefined) this.#meterPrompt(this.#promptTokens(), at);
    this.#first ??= { at, tokens };
    this.#tokens += tokens;
    this.#lastAt = at;
    this.#facts.meter?.spend("completion_tokens", tokens, at);
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
    const { meter, clock } = this.#facts;
    this.#meterPrompt(row.prompt_tokens, clock());
    meter?.spend("completion_tokens", Math.max(0, row.completion_tokens - this.#tokens), clock());
    meter?.leave();
    this.#resolve(row);
    return row;
  }

  /** A prompt counts once the engine has it, and embeddings when they are there. */
  #meterPrompt(tokens: number | null, at: number): void {
    if (tokens === null) return;
    this.#facts.meter?.spend("prompt_tokens", tokens - this.#metered, at);
    this.#metered = tokens;
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

export class RequestBoard {
  readonly bodies = new KeptBodies();
  readonly meters = new KeyMeters();
  /** By id, oldest first. */
  readonly #running = new Map<string, TrackedRequest>();
  /** Requests that have ended; their rows are plain values. */
  readonly #ended = new Map<string, RequestRow>();
  #promptTokens = 0;
  #cachedTokens = 0;

  /** Adds a request until `end()`. Its id on the board is unique, even if clients choose the same id twice. */
  enter(facts: RequestFacts): TrackedRequest {
    const tracked = new TrackedRequest({ ...facts, id: this.#freeId(facts.id) });
    this.#running.set(tracked.id, tracked);
    return tracked;
  }

  /** Keeps only the request's last row. */
  end(tracked: TrackedRequest, status: EndStatus, httpStatus: number): void {
    if (!this.#running.delete(tracked.id)) return;
    this.#ended.set(tracked.id, tracked.end(status, httpStatus));
    const [oldest] = this.#ended.keys();
    if (oldest === undefined || this.#ended.size <= finishedRequestsMax) return;
    this.#ended.delete(oldest);
    this.bodies.forget(oldest);
  }

  /** Counts a computed prompt by the engine's numbers. */
  countPrompt({ promptTokens, cachedTokens }: { promptTokens: number; cachedTokens: number }): void {
    this.#promptTokens += promptTokens;
    this.#cachedTokens += cachedTokens;
  }

  /** The share of prompt tokens that the prefix cache had, 0 to 1; null before the first prompt. */
  get cachedShare(): number | null {
    return this.#promptTokens === 0 ? null : this.#cachedTokens / this.#promptTokens;
  }

  /** How many requests of a key are computed, and how many wait in a queue. */
  countsOf(keyDigest: string | null): { running: number; waiting: number } {
    const all = [...this.#running.values()];
    const queued = findQueued(all);
    const own = all.filter((each) => each.isOf(keyDigest));
    const waiting = own.filter((each) => queued.has(each)).length;
    return { running: own.length - waiting, waiting };
  }

  /** Newest first. */
  rows(): LiveRequest[] {
    const running = [...this.#running.values()];
    const queued = findQueued(running);
    const rows = [...this.#ended.values(), ...running.map((each) => each.row(queued.has(each)))];
    return rows
      .map((row) => this.#withBodies(row))
      .toSorted((one, other) => other.started_at - one.started_at);
  }

  /**
   * Ends a request; its client gets a `cancelled` error. Resolves with its last row. Throws `not_found` if no request with this id
   * runs.
   */
  async cancel(id: string): Promise<LiveRequest> {
    const tracked = this.#running.get(id);
    if (tracked === undefined) {
      const message = "No running request has this id. It may have ended already.";
      throw new WireError("not_found", message, { param: "id" });
    }
    tracked.cancel(
      new WireError("cancelled", "The request was cancelled by an administrator of this server."),
    );
    return this.#withBodies(await tracked.ended);
  }

  /** The running request of a key whose response has this id. Throws `not_found`. */
  ofResponse(id: string, keyDigest: string | null): TrackedRequest {
    for (const each of this.#running.values()) if (each.hasResponse(id) && each.isOf(keyDigest)) return each;
    const message = "No running request has a response of this id. It may have ended already.";
    throw new WireError("not_found", message, { param: "id" });
  }

  #withBodies(row: RequestRow): LiveRequest {
    const kept = this.bodies.of(row.id);
    return { ...row, body: kept?.body ?? null, answer: kept?.answer ?? null };
  }

  /** Clients may choose their ids, and repeat them. No client id contains a tilde. */
  #freeId(wanted: string): string {
    const isTaken = (id: string): boolean => this.#running.has(id) || this.#ended.has(id);
    let id = wanted;
    for (let number = 2; isTaken(id); number += 1) id = `${wanted}~${number}`;
    return id;
  }
}

/** The data that tells whether a request waits in the engine's queue. */
export interface MaybeQueued {
  readonly model: { readonly disposed: boolean; stats(): { readonly waiting: number } } | undefined;
  readonly unstarted: number;
}

/**
 * The requests that wait in an engine's queue. An engine only counts them; the newest requests without a token are assumed to be
 * the waiting ones, because an engine serves one client's requests in order of arrival.
 */
export function findQueued<T extends MaybeQueued>(oldestFirst: readonly T[]): Set<T> {
  const queued = new Set<T>();
  const left = new Map<MaybeQueued["model"], number>();
  for (const each of oldestFirst.toReversed()) {
    const { model, unstarted } = each;
    if (model === undefined || unstarted === 0) continue;
    const waiting = left.get(model) ?? (model.disposed ? 0 : model.stats().waiting);
    if (waiting >= unstarted) queued.add(each);
    left.set(model, Math.max(0, waiting - unstarted));
  }
  return queued;
}
