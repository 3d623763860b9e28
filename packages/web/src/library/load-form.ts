// The settings that a model is loaded with: which context lengths and KV bits are offered, and how they are requested. Pure.
import type { LoadOptions } from "@ingle/client";

/** KV cache bits on offer, the most exact first. */
export const kvBitsChoices = [16, 8, 4, 3] as const;
type KvBitsChoice = (typeof kvBitsChoices)[number];

/** A shorter context hardly holds a question and its reply. */
const shortest = 512;

/** The stops of the context slider: powers of two and their midpoints below `longest`, plus `longest` and `current`. */
export function contextStops(longest: number, current: number): number[] {
  const stops = new Set([longest, current]);
  for (let power = shortest; power < longest; power *= 2) {
    stops.add(power);
    if (power * 1.5 < longest) stops.add(power * 1.5);
  }
  return [...stops].toSorted((a, b) => a - b);
}

/** The index of the stop nearest to a length. */
export function nearestStop(stops: readonly number[], length: number): number {
  const distance = (index: number): number => Math.abs((stops[index] ?? Infinity) - length);
  return stops.reduce((best, _stop, index) => (distance(index) < distance(best) ? index : best), 0);
}

/** Null leaves a field to the server. */
export interface LoadFields {
  contextLength: number | null;
  kvBits: KvBitsChoice | null;
}

/** The request for these fields; omits those that are null. */
export function toLoadOptions({
  contextLength,
  kvBits,
}: LoadFields): Pick<LoadOptions, "context_length" | "kv_bits"> {
  return {
    ...(contextLength === null ? {} : { context_length: contextLength }),
    ...(kvBits === null ? {} : { kv_bits: kvBits }),
  };
}

/** Larger contexts are offered in steps of this many tokens. */
const contextStep = 1_024;

/** Left for the reply in a context that is offered for a text. */
const replyTokens = 512;

/**
 * The context to offer when one of `now` tokens is full: twice as long, or what the text of `needed` tokens and a reply need, or as long as
 * fits. Null if the text would not fit then either, or if that is not noticeably longer.
 */
export function largerContext(now: number, { max, needed }: { max: number; needed: number }): number | null {
  const fitting = Math.floor(max / contextStep) * contextStep;
  const wanted = Math.ceil((needed + replyTokens) / contextStep) * contextStep;
  const larger = Math.min(Math.max(now * 2, wanted), fitting);
  return larger > needed && larger >= now * 1.1 ? larger : null;
}
