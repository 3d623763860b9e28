// The simulated load: conversations that start in the course of a day, with a message after each reply. Drawn from a seed.
import { seededRandom, type Random } from "@ingle/fixtures";
import { z } from "zod";
import { TimeLine } from "./time-line.ts";

/** Token counts of texts: log-normal with this median and this 90th percentile. */
interface Lengths {
  readonly p50: number;
  readonly p90: number;
}

/** A kind of traffic. `message` is what one message adds to the prompt. */
interface Traffic {
  readonly message: Lengths;
  readonly reply: Lengths;
  readonly source: string;
}

const trafficNames = ["chat", "instructions", "agent-steps"] as const;

const traffics: Readonly<Record<(typeof trafficNames)[number], Traffic>> = {
  chat: {
    message: meanAndDeviation(161, 1.1),
    reply: meanAndDeviation(338, 0.9),
    source:
      "means of ShareGPT as tokenized by Kwon et al. 2023 (PagedAttention, figure 11); the spread is an assumption",
  },
  instructions: {
    message: meanAndDeviation(19, 0.6),
    reply: meanAndDeviation(58, 0.9),
    source:
      "means of Alpaca as tokenized by Kwon et al. 2023 (PagedAttention, figure 11); the spread is an assumption",
  },
  "agent-steps": {
    message: { p50: 857, p90: 5_342 },
    reply: { p50: 252, p90: 1_671 },
    source:
      "Claude's steps of SyFI TraceLab (University of Washington, 2026): appended tokens and output, p50 and p90",
  },
};

/** The 90th percentile of a normal distribution, in standard deviations. */
const p90Deviations = 1.2816;

/** A log-normal distribution by its mean and the standard deviation of the logarithm. */
function meanAndDeviation(mean: number, deviation: number): Lengths {
  const p50 = mean / Math.exp(deviation ** 2 / 2);
  return { p50, p90: p50 * Math.exp(1.2816 * deviation) };
}

const Positive = z.number().positive();

export const Workload = z.strictObject({
  seed: z.int().nonnegative().default(1),
  hours: Positive.default(24),
  /** Conversations started per hour, averaged over the day. */
  conversationsPerHour: Positive,
  /** How far the busiest hour (14:00) is above that, and the quietest (02:00) below: 0.6 is 160 % and 40 %. */
  swing: z.number().min(0).max(1).default(0.6),
  /** Bursts that multiply the rate by this factor; average hours between them. */
  bursts: z
    .strictObject({ everyHours: Positive, minutes: Positive, factor: Positive })
    .default({ everyHours: 3, minutes: 10, factor: 2 }),
  traffic: z.enum(trafficNames).default("chat"),
  /** Messages of a conversation on average, at least one. */
  messages: z.number().min(1).default(4),
  /** Seconds from the end of a reply to the next message, on average. */
  thinkSeconds: Positive.default(60),
  /** Tokens at the start of every conversation, such as a system prompt. */
  sharedTokens: z.int().nonnegative().default(0),
  /** A conversation ends before its prompt and reply exceed this many tokens. */
  contextTokens: z.int().positive().default(2_048),
});
export type Workload = z.infer<typeof Workload>;

/** The next message. */
export interface Message {
  /** Its conversation. */
  session: number;
  /** The whole prompt, earlier messages included. */
  promptTokens: number;
  replyTokens: number;
}

/** A source of messages. Times are milliseconds. */
export interface Source {
  /** Time of the next message; Infinity if only messages after unfinished replies remain. */
  readonly time: number;
  /** The message at that time; undefined if it would exceed the limit of a conversation. */
  take(): Message | undefined;
  /** A reply has ended, and the next message follows after a pause. */
  replied(session: number, now: number): void;
  /** A request was refused: its conversation is over. */
  refused(session: number): void;
}

/** A conversation: its tokens so far, and how many messages remain. */
interface Conversation {
  readonly session: number;
  historyTokens: number;
  messagesLeft: number;
}

const hourMs = 3_600_000;

/** Conversations started at the workload's rate, each alternating between a message, a reply and a pause. */
export class Conversations implements Source {
  readonly #workload: Workload;
  readonly #random: Random;
  readonly #bursts: readonly (readonly [number, number])[];
  readonly #open = new Map<number, Conversation>();
  readonly #writing = new TimeLine<Conversation>();
  #burst = 0;
  #count = 0;
  #beginsAt = 0;

  constructor(workload: Workload) {
    this.#workload = workload;
    this.#random = seededRandom(workload.seed, "arrivals");
    this.#bursts = drawBursts(workload);
    this.#beginsAt = this.#nextBeginning(0);
  }

  get time(): number {
    return Math.min(this.#beginsAt, this.#writing.time);
  }

  take(): Message | undefined {
    const conversation = this.#writing.time <= this.#beginsAt ? this.#writing.take() : this.#begin();
    return conversation === undefined ? undefined : this.#message(conversation);
  }

  replied(session: number, now: number): void {
    const conversation = this.#open.get(session);
    if (conversation === undefined) return;
    if (conversation.messagesLeft === 0) this.#open.delete(session);
    else this.#writing.add(now - Math.log(this.#unit()) * this.#workload.thinkSeconds * 1000, conversation);
  }

  refused(session: number): void {
    this.#open.delete(session);
  }

  #begin(): Conversation {
    this.#beginsAt = this.#nextBeginning(this.#beginsAt);
    this.#count += 1;
    const { messages, sharedTokens } = this.#workload;
    const more = messages > 1 ? Math.floor(Math.log(this.#unit()) / Math.log(1 - 1 / messages)) : 0;
    const conversation = { session: this.#count, historyTokens: sharedTokens, messagesLeft: 1 + more };
    this.#open.set(conversation.session, conversation);
    return conversation;
  }

  #message(conversation: Conversation): Message | undefined {
    const { traffic, contextTokens } = this.#workload;
    const { message, reply } = traffics[traffic];
    const promptTokens = conversation.historyTokens + this.#length(message);
    const replyTokens = this.#length(reply);
    if (promptTokens + replyTokens > contextTokens) {
      this.#open.delete(conversation.session);
      return undefined;
    }
    conversation.messagesLeft -= 1;
    conversation.historyTokens = promptTokens + replyTokens;
    return { session: conversation.session, promptTokens, replyTokens };
  }

  /** Thinning: drawn at the day's highest rate, and kept in proportion to the current rate. */
  #nextBeginning(after: number): number {
    const { conversationsPerHour, swing, bursts, hours } = this.#workload;
    const mostPerMs = (conversationsPerHour * (1 + swing) * Math.max(1, bursts.factor)) / hourMs;
    let at = after;
    for (;;) {
      at -= Math.log(this.#unit()) / mostPerMs;
      if (at >= hours * hourMs) return Infinity;
      if (this.#unit() * mostPerMs <= this.#ratePerMs(at)) return at;
    }
  }

  #ratePerMs(at: number): number {
    const { conversationsPerHour, swing, bursts } = this.#workload;
    const daily = 1 + swing * Math.cos((2 * Math.PI * (at / hourMs - 14)) / 24);
    while (at > (this.#bursts[this.#burst]?.[1] ?? Infinity)) this.#burst += 1;
    const isBurst = at >= (this.#bursts[this.#burst]?.[0] ?? Infinity);
    return (conversationsPerHour * daily * (isBurst ? bursts.factor : 1)) / hourMs;
  }

  #length({ p50, p90 }: Lengths): number {
    const deviation = Math.log(p90 / p50) / p90Deviations;
    return Math.max(1, Math.round(p50 * Math.exp(deviation * this.#random.normal())));
  }

  /** Above 0, at most 1. */
  #unit(): number {
    return (this.#random.uint32() + 1) / 2 ** 32;
  }
}

/** Start and end of each burst, in milliseconds. */
function drawBursts({ seed, hours, bursts }: Workload): (readonly [number, number])[] {
  const random = seededRandom(seed, "bursts");
  const drawn: (readonly [number, number])[] = [];
  let at = 0;
  for (;;) {
    at += -Math.log((random.uint32() + 1) / 2 ** 32) * bursts.everyHours * hourMs;
    if (at >= hours * hourMs) return drawn;
    const end = at + bursts.minutes * 60_000;
    drawn.push([at, end]);
    at = end;
  }
}

/** A request at a fixed time, independent of earlier ones. */
export interface ScriptedRequest extends Message {
  at: number;
}

/** Requests by ascending time. */
export class Script implements Source {
  readonly #requests: readonly ScriptedRequest[];
  #next = 0;

  constructor(requests: readonly ScriptedRequest[]) {
    this.#requests = requests;
  }

  get time(): number {
    return this.#requests[this.#next]?.at ?? Infinity;
  }

  take(): Message | undefined {
    this.#next += 1;
    return this.#requests[this.#next - 1];
  }

  replied(): void {
    // The next request has its own time.
  }

  refused(): void {
    // The same after a refusal.
  }
}
