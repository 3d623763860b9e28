// What the replies of several endpoints are put together of: entries by their index, usage and timings. Used by
// chat-reply.ts, completion-reply.ts and response-stream.ts.
import type { Timings, Usage } from "@ingle/protocol";

import { StreamError } from "./errors.ts";

/** The counts that a stream tells at its end, or not at all. */
export interface Totals {
  /** There when the stream was asked for it: `stream()` does, `create()` with `stream_options.include_usage`. */
  usage: Usage | undefined;
  /** Of several choices, those of the one that took longest. `undefined` from servers that do not tell. */
  timings: Timings | undefined;
}

/** Takes from a chunk what it tells of the totals. */
export function addTotals(
  totals: Totals,
  { usage, timings }: { usage?: Usage | null | undefined; timings?: Partial<Timings> | undefined },
): void {
  totals.usage = usage ?? totals.usage;
  if (isWhole(timings) && timings.predicted_ms >= (totals.timings?.predicted_ms ?? 0))
    totals.timings = timings;
}

/** Before the last chunk of a choice, `timings` may hold what is known so far. */
function isWhole(timings: Partial<Timings> | undefined): timings is Timings {
  return timings?.prompt_n !== undefined && timings.predicted_ms !== undefined;
}

/** The entry of a key, made when it is not there. */
export function entryOf<Value>(entries: Map<number, Value>, key: number, make: () => Value): Value {
  const found = entries.get(key);
  if (found !== undefined) return found;
  const made = make();
  entries.set(key, made);
  return made;
}

/** The entries by their keys, from the smallest. */
export function inOrder<Value>(entries: ReadonlyMap<number, Value>): [number, Value][] {
  return [...entries].toSorted(([a], [b]) => a - b);
}

/** The error of a stream whose events do not make a reply. */
export function invalidReply(message: string): StreamError {
  return new StreamError(message, "stream_invalid", null);
}
