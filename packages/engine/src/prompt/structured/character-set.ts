// Sets of characters, and their GBNF in a text and inside a JSON string.
import { literal } from "./rules.ts";

/** First and last character of a range. */
export type Range = readonly [first: number, last: number];
/** Sorted, with gaps in between. */
export type CharacterSet = readonly Range[];

const characterMax = 0x10_ff_ff;

export function toCharacterSet(ranges: readonly Range[]): CharacterSet {
  const sorted = ranges.toSorted(([a], [b]) => a - b);
  const merged: [number, number][] = [];
  for (const [first, last] of sorted) {
    const before = merged.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else merged.push([first, last]);
  }
  return merged;
}

export function complement(set: CharacterSet): CharacterSet {
  const rest: Range[] = [];
  let next = 0;
  for (const [first, last] of set) {
    if (first > next) rest.push([next, first - 1]);
    next = last + 1;
  }
  if (next <= characterMax) rest.push([next, characterMax]);
  return rest;
}

/** The characters that are in both sets. */
export function intersected(one: CharacterSet, other: CharacterSet): CharacterSet {
  const common: Range[] = [];
  let [at, otherAt] = [0, 0];
  for (;;) {
    const [range, otherRange] = [one[at], other[otherAt]];
    if (range === undefined || otherRange === undefined) return common;
    const [first, last] = [Math.max(range[0], otherRange[0]), Math.min(range[1], otherRange[1])];
    if (first <= last) common.push([first, last]);
    if (range[1] < otherRange[1]) at += 1;
    else otherAt += 1;
  }
}

export function contains(set: CharacterSet, character: number): boolean {
  return set.some(([first, last]) => character >= first && character <= last);
}

/** UTF-8 cannot encode them, so no text has them. */
export const surrogates: CharacterSet = [[0xd8_00, 0xdf_ff]];

/** Every character that a text may have. */
export const allCharacters: CharacterSet = complement(surrogates);

/** The characters that a JSON string must escape. */
const escapedOnly = toCharacterSet([
  [0, 0x1f],
  [0x22, 0x22],
  [0x5c, 0x5c],
  [0x7f, 0x7f],
]);

const shortEscapes: Readonly<Record<number, string>> = {
  0x08: String.raw`\b`,
  0x09: String.raw`\t`,
  0x0a: String.raw`\n`,
  0x0c: String.raw`\f`,
  0x0d: String.raw`\r`,
  0x22: String.raw`\"`,
  0x5c: String.raw`\\`,
};

const plainOnly = complement(escapedOnly);

/** GBNF for each character that must be escaped. */
const escapes: readonly (readonly [character: number, written: string])[] = escapedOnly.flatMap(
  ([first, last]) =>
    Array.from({ length: last - first + 1 }, (_nothing, at) => {
      const character = first + at;
      return [character, literal(jsonEscape(character))] as const;
    }),
);

/** GBNF for one character of the set inside a JSON string; undefined for the empty set. */
export function inJsonString(set: CharacterSet): string | undefined {
  const plain = intersected(set, plainOnly);
  const expressions: string[] = [];
  if (plain.length > 0) expressions.push(`[${plain.map(writeRange).join("")}]`);
  for (const [character, written] of escapes) if (contains(set, character)) expressions.push(written);
  return expressions.length === 0 ? undefined : expressions.join(" | ");
}

const writableInText = complement([[0, 0]]);

/** GBNF for one character of the set in a text; undefined for the empty set. Grammars cannot have the character 0. */
export function inText(set: CharacterSet): string | undefined {
  const written = intersected(set, writableInText);
  return written.length === 0 ? undefined : `[${written.map(writeRange).join("")}]`;
}

function jsonEscape(character: number): string {
  return shortEscapes[character] ?? String.raw`\u` + character.toString(16).padStart(4, "0");
}

function writeRange([first, last]: Range): string {
  return first === last ? writeCharacter(first) : `${writeCharacter(first)}-${writeCharacter(last)}`;
}

/** As short as possible: the engine reads each rule. What has a meaning in a set is escaped. */
function writeCharacter(character: number): string {
  const hex = character.toString(16);
  if (character < 0x80) {
    const text = String.fromCodePoint(character);
    return /[A-Za-z0-9]/.test(text) ? text : String.raw`\x` + hex.padStart(2, "0");
  }
  return character <= 0xff_ff ? String.raw`\u` + hex.padStart(4, "0") : String.raw`\U` + hex.padStart(8, "0");
}
