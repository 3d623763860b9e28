import { describe, expect, it } from "vitest";
import { makePrompts, deriveSeed } from "./prompts.ts";

const splitWords = (text: string): string[] => text.split(" ");

describe("makePrompts", () => {
  it("draws the same texts in the same order for the same seed", () => {
    const [a, b] = [makePrompts(7, 2), makePrompts(7, 2)];
    expect([a.text(200), a.fraction(), a.text(50)]).toEqual([b.text(200), b.fraction(), b.text(50)]);
  });

  it("draws other texts for another seed, and each time", () => {
    const prompts = makePrompts(7, 2);
    const texts = [prompts.text(200), prompts.text(200), makePrompts(8, 2).text(200)];
    expect(new Set(texts.map((text) => text.slice(0, 20))).size).toBe(3);
  });

  it("gives as many words as the tokens come to", () => {
    expect(splitWords(makePrompts(1, 2).text(200))).toHaveLength(100);
    expect(splitWords(makePrompts(1, 1.6).text(800))).toHaveLength(500);
    expect(splitWords(makePrompts(1, 3).text(1))).toHaveLength(1);
  });

  it("writes sentences", () => {
    expect(makePrompts(3, 2).text(300)).toMatch(/^([A-Z][a-z]*( [a-z]+)*\. ?)+$/);
  });

  it("draws fractions from 0 to below 1", () => {
    const prompts = makePrompts(5, 2);
    const fractions = Array.from({ length: 1_000 }, () => prompts.fraction());
    expect(Math.min(...fractions)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...fractions)).toBeLessThan(1);
    expect(new Set(fractions).size).toBeGreaterThan(990);
  });
});

describe("deriveSeed", () => {
  it("depends on the run's seed and on the part", () => {
    const seeds = [deriveSeed(1, "single 1"), deriveSeed(1, "single 2"), deriveSeed(2, "single 1")];
    expect(new Set(seeds).size).toBe(3);
    expect(deriveSeed(1, "single 1")).toBe(seeds[0]);
  });
});
