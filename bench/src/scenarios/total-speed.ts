// Total speed of concurrent replies.
import { sum } from "../statistics.ts";
import type { StreamRecord } from "../stream-record.ts";

/** Milliseconds from the first request to the last end. */
export function wallTime(requests: readonly StreamRecord[]): number {
  const start = Math.min(...requests.map(({ sentAtMs }) => sentAtMs));
  return Math.max(...requests.map(({ endedAtMs }) => endedAtMs)) - start;
}

/** Tokens per second of all replies together, including the time for the prompts. */
export function totalSpeed(requests: readonly StreamRecord[]): number {
  return (sum(requests.map(({ completionTokens }) => completionTokens)) / wallTime(requests)) * 1000;
}
