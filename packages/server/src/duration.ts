// Times as people write them in flags and variables: `30s`, `5m`, `250ms`. Used by config.ts.
import { z } from "zod";

const millisecondsOf: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Longest time that a timer of Node can wait: one more millisecond and it fires at once. */
export const durationMsMax = 2 ** 31 - 1;

const rule = 'must be a time such as "30s", "5m" or "250ms"';

/** Text with a unit, or whole seconds without one, as milliseconds. */
export function duration(bounds: { minMs: number }) {
  return z
    .string(rule)
    .regex(/^\d{1,12}(ms|s|m|h)?$/, rule)
    .transform(toMilliseconds)
    .refine((ms) => ms >= bounds.minMs, `must be at least ${bounds.minMs} ms`)
    .refine((ms) => ms <= durationMsMax, "must be at most 24 days");
}

function toMilliseconds(text: string): number {
  const unit = /[a-z]+$/.exec(text)?.[0] ?? "s";
  return Number.parseInt(text, 10) * (millisecondsOf[unit] ?? 1);
}
