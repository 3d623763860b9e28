// The dialog that loads a model: the stops of its context slider, and what is ordered of the fields. Pure.
import type { LoadOrderOptions } from "@ingle/client";

/** Bits of the KV cache that can be chosen, the most exact first. */
export const kvBitsChoices = [16, 8, 4, 3] as const;
export type KvBitsChoice = (typeof kvBitsChoices)[number];

/** A shorter one holds hardly a question and its answer. */
const shortest = 512;

/**
 * Where the slider stops: powers of two and what lies in the middle of two, up to `longest`, which is one itself, as is
 * `current`.
 */
export function contextStops(longest: number, current: number): number[] {
  const stops = new Set([longest, current]);
  for (let power = shortest; power < longest; power *= 2) {
    stops.add(power);
    if (power * 1.5 < longest) stops.add(power * 1.5);
  }
  return [...stops].toSorted((a, b) => a - b);
}

/** The stop that is nearest to a length. */
export function nearestStop(stops: readonly number[], length: number): number {
  const distance = (index: number): number => Math.abs((stops[index] ?? Infinity) - length);
  return stops.reduce((best, _stop, index) => (distance(index) < distance(best) ? index : best), 0);
}

export interface LoadFields {
  /** Null: the server's choice. */
  contextLength: number | null;
  kvBits: KvBitsChoice | null;
}

/** What is ordered: a field that nobody touched is not said, and stays as the server was told. */
export function loadOptionsOf({
  contextLength,
  kvBits,
}: LoadFields): Pick<LoadOrderOptions, "context_length" | "kv_bits"> {
  return {
    ...(contextLength === null ? {} : { context_length: contextLength }),
    ...(kvBits === null ? {} : { kv_bits: kvBits }),
  };
}
