// One replica: its waiting queue, running requests and prefix cache. Steps are not simulated one by one: between two events a
// step has a constant duration, each reply gets one token per step, and the oldest prompt advances at a constant rate. The rules
// are those of docs/scheduler.md, without preemption and fairness.
import { PrefixCache } from "./prefix-cache.ts";
import { stepTable, type ServiceTimes } from "./service-times.ts";
import { TimeLine } from "./time-line.ts";
import type { Message } from "./workload.ts";

/** How the engine mixes prompts with running replies: the step budget of docs/scheduler.md. */
const stretch = 5;
const prefillTokensMin = 16;
const prefillTokensMax = 512;
/** Tokens that the engine reserves ahead for a request; more when they are used up. */
const reservedTokens = 64;
/** Tolerance for rounding in sums of many durations. */
const almostNothing = 1e-6;

/** One request in a replica. Times are milliseconds of the simulation. */
export interface Request {
  readonly arrivedAt: number;
  /** Its conversation: the key for the prefix cache and for routing by session. */
  readonly session: number;
  /** The whole prompt, earlier messages of the conversation included. */
  readonly promptTokens: number;
  readonly replyTokens: number;
  /** Prompt tokens found in the prefix cache. */
  cachedTokens: number;
  /** Prompt tokens left to compute, plus the request's overhead in the same unit. */
  prefillLeft: number;
  /** When it left the waiting queue, and the time of its first token. */
  startedAt: number;
  firstAt: number;
}

/** A message at the moment of its arrival. */
export function toRequest({ session, promptTokens, replyTokens }: Message, arrivedAt: number): Request {
  // A plain loop for speed: this runs for every request of a day.
  return {
    arrivedAt,
    session,
    promptTokens,
    replyTokens,
    cachedTokens: 0,
    prefillLeft: promptTokens,
    startedAt: 0,
    firstAt: 0,
  };
}

interface ReplicaRules {
  service: ServiceTimes;
  /** Capacity of the host KV tier, in tokens. */
  hostTokens: number;
  /** First tokens that all conversations share, such as a system prompt. */
  sharedTokens: number;
}

export class SimulatedReplica {
  readonly id: number;
  readonly #rules: ReplicaRules;
  /** Final token counts of running requests: a request starts when its own fits beside them. */
  #usedTokens = 0;
  readonly #steps: Float64Array;
  #waiting: Request[] = [];
  #waitingFrom = 0;
  readonly #prefilling: Request[] = [];
  /** Replies by the number of the step that ends them. */
  readonly #decoding = new TimeLine<Request>();
  #cache = new PrefixCache();
  #hasShared = false;
  /** Simulated time so far, and the number of steps of running replies until then. */
  #at = 0;
  #stepCount = 0;
  #stepMs = Infinity;
  #prefillTokensPerMs = 0;

  constructor(id: number, rules: ReplicaRules) {
    this.id = id;
    this.#rules = rules;
    this.#steps = stepTable(rules.service);
  }

  get waiting(): number {
    return this.#waiting.length - this.#waitingFrom;
  }

  get running(): number {
    return this.#prefilling.length + this.#decoding.length;
  }

  /** The share of the KV cache held by running requests, reserved tokens included: `ingle_kv_usage_ratio`. */
  get kvUse(): number {
    let tokens = 0;
    for (const { promptTokens } of this.#prefilling) tokens += promptTokens + reservedTokens;
    for (const [lastStep, { promptTokens, replyTokens }] of this.#decoding.entries()) {
      const replied = replyTokens - (lastStep - this.#stepCount);
      tokens += promptTokens + Math.min(replyTokens, replied + reservedTokens);
    }
    return tokens / this.#rules.service.kvTokens;
  }

  /** The next event if nothing arrives before; Infinity if nothing runs. */
  get nextAt(): number {
    const [prompt] = this.#prefilling;
    const firstToken = prompt === undefined ? Infinity : prompt.prefillLeft / this.#prefillTokensPerMs;
    const lastToken = (this.#decoding.time - this.#stepCount) * this.#stepMs;
    return this.#at + Math.max(0, Math.min(firstToken, this.#decoding.length === 0 ? Infinity : lastToken));
  }

  arrive(request: Request): void {
    this.#advance(request.arrivedAt);
    this.#waiting.push(request);
    this.#admit();
  }

  /** Processes the events at `now`, and calls back for each reply that ends. */
  happen(now: number, onEnd: (request: Request) => void): void {
    this.#advance(now);
    const [prompt] = this.#prefilling;
    if (prompt !== undefined && prompt.prefillLeft <= almostNothing) {
      this.#prefilling.shift();
      prompt.firstAt = now;
      this.#hasShared = true;
      // The first token came with the prompt's end.
      this.#decoding.add(this.#stepCount + prompt.replyTokens - 1, prompt);
    }
    while (this.#decoding.time <= this.#stepCount + almostNothing) {
      const ended = this.#decoding.take();
      if (ended === undefined) break;
      this.#keep(ended);
      onEnd(ended);
    }
    this.#admit();
  }

  /** Clears the caches of a stopped replica. */
  forget(): void {
    this.#cache = new PrefixCache();
    this.#hasShared = false;
  }

  #advance(now: number): void {
    const passed = now - this.#at;
    this.#at = now;
    if (passed <= 0) return;
    const [prompt] = this.#prefilling;
    if (prompt !== undefined) prompt.prefillLeft -= passed * this.#prefillTokensPerMs;
    if (this.#decoding.length > 0) this.#stepCount += passed / this.#stepMs;
  }

  /** In order of arrival; no request passes one whose tokens do not fit yet. */
  #admit(): void {
    const { parallel, kvTokens } = this.#rules.service;
    while (this.waiting > 0 && this.running < parallel) {
      const request = this.#waiting[this.#waitingFrom];
      if (request === undefined) break;
      const tokens = request.promptTokens + request.replyTokens;
      if (this.#usedTokens + tokens > kvTokens && this.running > 0) break;
      this.#waitingFrom += 1;
      this.#start(request, tokens);
    }
    if (this.#waitingFrom > 64 && 2 * this.#waitingFrom > this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#waitingFrom);
      this.#waitingFrom = 0;
    }
    this.#setRates();
  }

  #start(request: Request, tokens: number): void {
    const shared = this.#hasShared ? this.#rules.sharedTokens : 0;
    const known = Math.max(this.#cache.take(request.session), shared);
    // The last token of a prompt is always computed.
    request.cachedTokens = Math.min(known, request.promptTokens - 1);
    const { requestMs, promptTokenMs } = this.#rules.service;
    request.prefillLeft = request.promptTokens - request.cachedTokens + requestMs / promptTokenMs;
    request.startedAt = this.#at;
    this.#use(tokens);
    this.#prefilling.push(request);
  }

  /** Updates the rates of steps and prompts until the next change. */
  #setRates(): void {
    const { promptTokenMs, besideTokenMs = promptTokenMs, parallel } = this.#rules.service;
    const replies = this.#decoding.length;
    const prompts = this.#prefilling.length;
    if (replies === 0) {
      this.#stepMs = Infinity;
      this.#prefillTokensPerMs = 1 / promptTokenMs;
      return;
    }
    const decodeMs = this.#steps[replies] ?? Number.NaN;
    if (prompts === 0) {
      this.#stepMs = decodeMs;
      return;
    }
    const comingSoon = Math.min(this.waiting, parallel - this.running);
    const crowd = Math.max(1, (prompts + comingSoon) / replies);
    const fitting = ((stretch * crowd - 1) * decodeMs) / besideTokenMs;
    const tokens = Math.min(Math.max(fitting, prefillTokensMin), prefillTokensMax);
    this.#stepMs = decodeMs + tokens * besideTokenMs;
    this.#prefillTokensPerMs = tokens / this.#stepMs;
  }

  #keep({ session, promptTokens, replyTokens }: Request): void {
    this.#cache.put(session, promptTokens + replyTokens);
    this.#use(-(promptTokens + replyTokens));
  }

  /** Adds tokens to those of running requests. Cached conversations use the rest. */
  #use(tokens: number): void {
    const { service, hostTokens } = this.#rules;
    this.#usedTokens += tokens;
    this.#cache.shrinkTo(service.kvTokens + hostTokens - this.#usedTokens);
  }
}
