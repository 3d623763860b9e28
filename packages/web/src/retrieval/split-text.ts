// How a text is split into passages, where each is, and how many a question has. Pure.

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
    const limit = start + countCharacters(text, { from: start, bytes: passageBytesMax });
    const end = limit === text.length ? limit : findEnd(text, start, limit);
    ranges.push({ start, end: start + text.slice(start, end).trimEnd().length });
    const next = skipSpace(text, end);
    start = next === text.length ? next : Math.max(start + 1, findOverlapStart(text, start, next));
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
function findEnd(text: string, start: number, limit: number): number {
  const half = start + Math.ceil((limit - start) / 2);
  const window = text.slice(half, limit);
  for (const border of borders) {
    const last = [...window.matchAll(border)].at(-1);
    if (last !== undefined) return half + last.index + last[0].length;
  }
  return limit;
}

/** Where the passage after this end begins: with a whole sentence or line before it, or else a whole word, as far as they are short. */
function findOverlapStart(text: string, start: number, end: number): number {
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
function countCharacters(text: string, { from, bytes }: { from: number; bytes: number }): number {
  let at = from;
  for (let left = bytes; at < text.length;) {
    const code = text.codePointAt(at) ?? 0;
    left -= utf8Bytes(code);
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
    left -= utf8Bytes(text.codePointAt(before) ?? 0);
    if (left < 0) break;
    at = before;
  }
  return text.length - at;
}

function utf8Bytes(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}

/**
 * Length of a passage in bytes of UTF-8, whose number follows that of tokens in all alphabets better than the number of characters does.
 * About 250 tokens of English: few enough for small embedding models, which read 512, and for several passages in a small context.
 */
export const passageBytesMax = 1_000;

/** How much of the end of a passage the next one repeats at most, so that a thought at the border is whole in one of them. */
export const overlapBytesMax = 150;

/** Increment it when texts are split in another way: kept vectors are those of other passages then. */
export const splitVersion = 1;

/** About eight passages: enough to answer most questions from, and seconds of computing on a processor. */
const passageTokensMax = 2_048;

/** In a small context, passages leave most of it to the chat and the reply. */
const passagesShare = 0.25;

/** How many tokens the passages of one question may have together. */
export function passagesBudget(contextLength: number | null): number {
  return contextLength === null
    ? passageTokensMax
    : Math.min(passageTokensMax, Math.floor(contextLength * passagesShare));
}

/** The first and last of the document's pages or lines that a passage is on, counted from 1. */
export interface Place {
  unit: "page" | "line";
  first: number;
  last: number;
  of: number;
}

/** In pages, if the document is divided into them; otherwise in lines. */
export function toPlace(text: string, { start, end }: TextRange): Place {
  const whole = text.trimEnd();
  const isPaged = whole.includes("\f");
  const mark = isPaged ? "\f" : "\n";
  const first = 1 + countMarks(mark, whole, 0, start);
  const last = first + countMarks(mark, whole, start, end);
  const of = last + countMarks(mark, whole, end, whole.length);
  return { unit: isPaged ? "page" : "line", first, last, of };
}

function countMarks(mark: string, text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf(mark, from); at >= 0 && at < to; at = text.indexOf(mark, at + 1)) count += 1;
  return count;
}
