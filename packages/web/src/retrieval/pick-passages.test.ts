import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { rankByScores, pickPassages } from "./pick-passages.ts";

describe("rankByScores", () => {
  it("puts what both find good before what only one finds best", () => {
    expect(
      rankByScores([
        [1, 0.8, 0, 0],
        [0, 0.8, 1, 0],
      ])[0],
    ).toBe(1);
  });

  it("has each index with a score once, the best sum first", () => {
    const scores = fc.array(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 }));
    fc.assert(
      fc.property(scores, (given) => {
        const sumScores = (at: number) => given.reduce((sum, each) => sum + (each[at] ?? 0), 0);
        const ranked = rankByScores(given);
        const scored = Array.from({ length: 20 }, (_nothing, at) => at).filter((at) => sumScores(at) > 0);
        expect(ranked.toSorted((a, b) => a - b)).toEqual(scored);
        for (const [at, index] of ranked.slice(1).entries())
          expect(sumScores(index)).toBeLessThanOrEqual(sumScores(ranked[at] ?? 0));
      }),
    );
  });
});

describe("pickPassages", () => {
  const ranked = [
    { document: 1, start: 40, end: 60 },
    { document: 0, start: 90, end: 99 },
    { document: 1, start: 0, end: 10 },
    { document: 1, start: 55, end: 80 },
    { document: 0, start: 0, end: 50 },
  ];
  const count = async ({ start, end }: { start: number; end: number }) => end - start;

  it("takes the best that fit, in the order of the documents, with neighbours as one", async () => {
    expect(await pickPassages({ ranked, count, budget: 70 })).toEqual([
      { document: 0, start: 90, end: 99 },
      { document: 1, start: 0, end: 10 },
      { document: 1, start: 40, end: 80 },
    ]);
  });

  it("takes the best even if it is too long", async () => {
    expect(await pickPassages({ ranked, count, budget: 0 })).toEqual([ranked[0]]);
    expect(await pickPassages({ ranked: [], count, budget: 9 })).toEqual([]);
  });
});
