// What a client received of one streamed reply, and the figures that follow from it.
import { sum, largest, percentile } from "./statistics.ts";
import { BenchError } from "./bench-error.ts";

export interface ChatMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

export interface StreamRequest {
  messages: readonly ChatMessage[];
  /** `data:` URLs of images before the text of the last message. Default: none. */
  images?: readonly string[];
  /** Generates exactly this many tokens: the model's own end is ignored. */
  maxTokens: number;
  /** A JSON schema that constrains the reply; `maxTokens` still cuts it off. Default: any text. */
  schema?: object;
  /** Default: greedy. */
  sampling?: { temperature: number; topK: number; topP: number; seed: number };
}

/** A request with a single user message. */
export function userRequest(content: string, maxTokens: number): StreamRequest {
  return { messages: [{ role: "user", content }], maxTokens };
}

/** Times are milliseconds of this process's `performance.now()`. */
export interface StreamRecord {
  sentAtMs: number;
  /** When each piece of text arrived. */
  arrivalsMs: number[];
  /** When the finish reason arrived, or when the client disconnected. */
  endedAtMs: number;
  text: string;
  /** The client closed the connection before the end; the counts below are then 0. */
  hasLeft: boolean;
  completionTokens: number;
  promptTokens: number;
  /** Prompt tokens taken from a cache, and computed ones. */
  reusedTokens: number;
  computedTokens: number;
  /** The speed that the server reports, if it does. */
  serverTokensPerSecond?: number | undefined;
}

/** Milliseconds from sending the request to the first piece of text. Throws BenchError if there was none. */
export function timeToFirstToken(record: StreamRecord): number {
  const [first] = record.arrivalsMs;
  if (first === undefined) throw new BenchError("A reply had no text, so it has no time to its first token.");
  return first - record.sentAtMs;
}

/** Tokens per second from the first piece of text to the end: the first token counts towards the prompt's time. */
export function decodeSpeed(record: StreamRecord): number {
  const [first = Number.NaN] = record.arrivalsMs;
  return ((record.completionTokens - 1) / (record.endedAtMs - first)) * 1000;
}

/** Milliseconds between neighbouring pieces of text; the wait for the end counts as one more. */
export function gaps(record: StreamRecord): number[] {
  const times = [...record.arrivalsMs, record.endedAtMs];
  return times.slice(1).map((time, index) => time - (times[index] ?? time));
}

/** The figures of one request, as the JSON report keeps them. */
export function requestFigures(record: StreamRecord): Record<string, number | boolean> {
  const between = gaps(record);
  const [first] = record.arrivalsMs;
  return {
    hasLeft: record.hasLeft,
    ...(first === undefined ? {} : { ttftMs: first - record.sentAtMs }),
    totalMs: record.endedAtMs - record.sentAtMs,
    completionTokens: record.completionTokens,
    promptTokens: record.promptTokens,
    computedTokens: record.computedTokens,
    reusedTokens: record.reusedTokens,
    ...(between.length === 0
      ? {}
      : {
          gapP50Ms: percentile(between, 50),
          gapP99Ms: percentile(between, 99),
          gapMaxMs: largest(between),
        }),
  };
}

/** Throws BenchError unless the reply has the requested length: other lengths cannot be compared. */
export function checkLength(record: StreamRecord, request: StreamRequest): StreamRecord {
  if (record.hasLeft || record.completionTokens === request.maxTokens) return record;
  throw new BenchError(
    `A reply has ${record.completionTokens} tokens instead of the requested ${request.maxTokens}.`,
  );
}

/** Milliseconds from the first request to the last end. */
export function wallTime(requests: readonly StreamRecord[]): number {
  const start = Math.min(...requests.map(({ sentAtMs }) => sentAtMs));
  return Math.max(...requests.map(({ endedAtMs }) => endedAtMs)) - start;
}

/** Tokens per second of all replies together, including the time for the prompts. */
export function totalSpeed(requests: readonly StreamRecord[]): number {
  return (sum(requests.map(({ completionTokens }) => completionTokens)) / wallTime(requests)) * 1000;
}
