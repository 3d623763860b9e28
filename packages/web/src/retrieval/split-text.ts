// Splits the text of a document into passages, which end where a paragraph, a sentence or a line does, and overlap a little. Pure.

import { overlapBytesMax, passageBytesMax } from "./passage-size.ts";

/** The characters of a text from `start` up to `end`, without the one there. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** Where a passage may end, the best places first: after a paragraph or a page, a sentence, a line, and a word. */
const borders = [/\f|\n[^\S\n]*\n/g, /[.!?…]["'”’»)\]]*(?=\s)|[。！？]/g, /\n/g, /\s/g];

/** Passages that have all characters of the text, apart from white space between them. None begins or ends with white space. */
export function splitText(text: string): TextRange[] {
  const ranges: TextRange[] = [];
  for (let start = skipSpace(text, 0); start < text.length;) {
    const limit = start + lengthOf(text, { from: start, bytes: passageBytesMax });
    const end = limit === text.length ? limit : endOf(text, start, limit);
    ranges.push({ start, end: start + text.slice(start, end).trimEnd().length });
    const next = skipSpace(text, end);
    start = next === text.length ? next : Math.max(start + 1, overlapOf(text, start, next));
  }
  return ranges;
}

/** Merges ranges that overlap or touch; the first of a text first. */
export function mergeRanges(ranges: readonly TextRange[]): TextRange[] {
  const merged: TextRange[] = [];
  for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last !== undefined && range.start <= last.end)
      merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, range.end) };
    else merged.push(range);
  }
  return merged;
}

/** The last and best end in the second half of a passage, so that none is short without need. */
function endOf(text: string, start: number, limit: number): number {
  const half = start + Math.ceil((limit - start) / 2);
  const window = text.slice(half, limit);
  for (const border of borders) {
    const last = [...window.matchAll(border)].at(-1);
    if (last !== undefined) return half + last.index + last[0].length;
  }
  return limit;
}

/** Where the passage after this end begins: with a whole sentence or line before it, or else a whole word, as far as they are short. */
function overlapOf(text: string, start: number, end: number): number {
  const window = text.slice(start, end);
  const from = end - lengthBefore(window, overlapBytesMax);
  const tail = text.slice(from, end).trimEnd();
  for (const border of borders) {
    const [first] = tail.matchAll(border);
    if (first === undefined) continue;
    const begin = skipSpace(text, from + first.index + first[0].length);
    if (begin < from + tail.length) return begin;
  }
  return end;
}

function skipSpace(text: string, from: number): number {
  const space = /\s*/y;
  space.lastIndex = from;
  space.test(text);
  return space.lastIndex;
}

/** How many characters from a place on have at most so many bytes, and are whole code points. */
function lengthOf(text: string, { from, bytes }: { from: number; bytes: number }): number {
  let at = from;
  for (let left = bytes; at < text.length;) {
    const code = text.codePointAt(at) ?? 0;
    left -= bytesOf(code);
    if (left < 0) break;
    at += code > 0xffff ? 2 : 1;
  }
  return at - from;
}

/** The same for the last characters of a text. */
function lengthBefore(text: string, bytes: number): number {
  let at = text.length;
  for (let left = bytes; at > 0;) {
    const isPair = /[\udc00-\udfff]/.test(text[at - 1] ?? "") && /[\ud800-\udbff]/.test(text[at - 2] ?? "");
    const before = at - (isPair ? 2 : 1);
    left -= bytesOf(text.codePointAt(before) ?? 0);
    if (left < 0) break;
    at = before;
  }
  return text.length - at;
}

function bytesOf(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}
