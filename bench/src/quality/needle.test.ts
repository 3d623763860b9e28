import { describe, expect, it } from "vitest";
import { makeNeedles } from "./needle.ts";

const haystack = Array.from({ length: 5_000 }, (_, index) => `word${index}`);
const options = { haystack, words: 100, seed: 7, texts: 3 };

describe("makeNeedles", () => {
  it("hides a number of its own at five depths of each text, and asks for it at the end", () => {
    const needles = makeNeedles(options);
    expect(needles).toHaveLength(15);
    expect(new Set(needles.map(({ digits }) => digits)).size).toBe(15);
    for (const { prompt, digits } of needles) {
      expect(prompt.split(digits)).toHaveLength(2);
      expect(prompt).toMatch(/the secret number of the \w+ is$/);
      expect(prompt.split(/\s+/).filter((word) => word.startsWith("word"))).toHaveLength(100);
    }
    const depths = needles.slice(0, 5).map(({ prompt, digits }) => prompt.indexOf(digits) / prompt.length);
    expect(depths).toEqual(depths.toSorted((a, b) => b - a));
  });

  it("draws the same ones from the same seed, and others from another", () => {
    expect(makeNeedles(options)).toEqual(makeNeedles(options));
    expect(makeNeedles({ ...options, seed: 8 })).not.toEqual(makeNeedles(options));
  });

  it("takes what there is of a book that is too short", () => {
    expect(makeNeedles({ ...options, haystack: ["only", "three", "words"], texts: 1 })).toHaveLength(5);
  });
});
