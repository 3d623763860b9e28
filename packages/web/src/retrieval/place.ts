// Where a passage is in its document, as a reader would look it up. Pure.
import type { TextRange } from "./split-text.ts";

/** The first and last of the document's pages or lines that a passage is on, counted from 1. */
export interface Place {
  unit: "page" | "line";
  first: number;
  last: number;
  of: number;
}

/** In pages, if the document is divided into them; otherwise in lines. */
export function placeOf(text: string, { start, end }: TextRange): Place {
  const whole = text.trimEnd();
  const isPaged = whole.includes("\f");
  const mark = isPaged ? "\f" : "\n";
  const first = 1 + countOf(mark, whole, 0, start);
  const last = first + countOf(mark, whole, start, end);
  const of = last + countOf(mark, whole, end, whole.length);
  return { unit: isPaged ? "page" : "line", first, last, of };
}

function countOf(mark: string, text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf(mark, from); at >= 0 && at < to; at = text.indexOf(mark, at + 1)) count += 1;
  return count;
}
