// The timings of a reply that is still running, for `timings_per_token`. Used by the streams of each protocol.
import type { Timings } from "@ingle/protocol";
import { perSecond } from "./usage.ts";

/** What is known of the timings while the text still runs; the last chunk has all of them. */
export type Speed = Pick<Timings, "predicted_n" | "predicted_ms" | "predicted_per_second">;

/** Counts tokens from the first piece on: what came before it was the prompt's time, and so was that piece itself. */
export function speedometer(now: () => number): (tokens: number) => Speed {
  let startedAt: number | undefined;
  let first = 0;
  let count = 0;
  return (tokens) => {
    if (startedAt === undefined) first = tokens;
    startedAt ??= now();
    count += tokens;
    const elapsed = now() - startedAt;
    const perTime = perSecond(count - first, elapsed);
    return { predicted_n: count, predicted_ms: elapsed, predicted_per_second: perTime };
  };
}
