import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { overlapBytesMax, passageBytesMax } from "./split-text.ts";
import { mergeRanges, splitText } from "./split-text.ts";

const countBytes = (text: string) => new TextEncoder().encode(text).length;
const passageTexts = (text: string) => splitText(text).map(({ start, end }) => text.slice(start, end));

/** Texts with and without borders, of all alphabets, long enough for several passages. */
const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom(" ", "\n", "\n\n", "\f", ". ", "。", "word ", "港", "😀", "ü"),
      fc.string({ unit: "binary", maxLength: 60 }),
      fc.nat(900).map((length) => "a".repeat(length)),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(""));

describe("splitText", () => {
  it("has every character in a passage, in order, with bounded lengths and overlaps", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        let covered = 0;
        let last = -1;
        for (const { start, end } of splitText(text)) {
          expect(text.slice(covered, start).trim()).toBe("");
          expect(start).toBeGreaterThan(last);
          expect(end).toBeGreaterThan(covered);
          expect(countBytes(text.slice(start, end))).toBeLessThanOrEqual(passageBytesMax);
          expect(countBytes(text.slice(start, covered))).toBeLessThanOrEqual(overlapBytesMax);
          expect(text.slice(start, end)).toBe(text.slice(start, end).trim());
          last = start;
          covered = end;
        }
        expect(text.slice(covered).trim()).toBe("");
      }),
    );
  });

  it("never cuts a character in two", () => {
    for (const shift of ["", "a", "ab", "abc"])
      for (const passage of passageTexts(shift + "😀".repeat(2_000)))
        expect(passage).toMatch(/^\w*(?:😀)+$/u);
  });

  it("keeps a short text whole, and an empty one is no passage", () => {
    expect(passageTexts("  One paragraph.\n\nAnother.\n")).toEqual(["One paragraph.\n\nAnother."]);
    expect(passageTexts(" \n\f ")).toEqual([]);
  });

  it("ends after a paragraph rather than a sentence, after a sentence rather than a word", () => {
    const sentence = "The harbour opens at seven and closes late. ";
    const paragraphs = passageTexts(`${sentence.repeat(17).trim()}\n\n${sentence.repeat(30)}`);
    expect(paragraphs[0]).toBe(sentence.repeat(17).trim());
    for (const passage of paragraphs) expect(passage).toMatch(/^The .*late\.$/s);
    for (const passage of passageTexts("harbour ".repeat(500)))
      expect(passage).toMatch(/^harbour\b.*\bharbour$/);
  });

  it("repeats the last sentence of a passage at the beginning of the next", () => {
    const text = Array.from({ length: 60 }, (_nothing, at) => `Sentence number ${at} ends here.`).join(" ");
    const passages = passageTexts(text);
    const lastSentence = (passage = "") => passage.slice(passage.lastIndexOf("Sentence"));
    expect(passages.length).toBeGreaterThan(1);
    for (const [at, passage] of passages.slice(1).entries())
      expect(passage).toContain(lastSentence(passages[at]));
  });
});

describe("mergeRanges", () => {
  it("makes one range of those that overlap or touch", () => {
    const ranges = [
      { start: 8, end: 12 },
      { start: 0, end: 5 },
      { start: 3, end: 4 },
      { start: 12, end: 13 },
    ];
    expect(mergeRanges(ranges)).toEqual([
      { start: 0, end: 5 },
      { start: 8, end: 13 },
    ]);
  });
});
