import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { largest, median, percentile, sum } from "./statistics.ts";

// Adding 0 turns -0 into 0, which only `toBe` distinguishes.
const number = fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((value) => value + 0);
const numbers = fc.array(number, { minLength: 1 });

describe("median", () => {
  it("is the middle value, or the mean of the two middle ones", () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([9, 1, 5, 7])).toBe(6);
  });

  it("is NaN for no values, so that a missing figure is never 0", () => {
    expect(median([])).toBeNaN();
  });

  it("leaves the list as it was", () => {
    const values = [3, 1, 2];
    median(values);
    expect(values).toEqual([3, 1, 2]);
  });
});

describe("percentile", () => {
  it("goes from the smallest to the largest value", () => {
    fc.assert(
      fc.property(numbers, (values) => {
        expect(percentile(values, 0)).toBe(Math.min(...values));
        expect(percentile(values, 100)).toBe(Math.max(...values));
      }),
    );
  });

  it("never falls when the percentage rises", () => {
    const percent = fc.integer({ min: 0, max: 100 });
    fc.assert(
      fc.property(numbers, percent, percent, (values, a, b) => {
        const [low, high] = a < b ? [a, b] : [b, a];
        expect(percentile(values, low)).toBeLessThanOrEqual(percentile(values, high) + 1e-6);
      }),
    );
  });

  it("lies between neighbours in proportion", () => {
    expect(percentile([0, 100], 99)).toBeCloseTo(99);
    expect(percentile([10, 20, 30], 75)).toBeCloseTo(25);
  });
});

describe("sum and largest", () => {
  it("are 0 for no values", () => {
    expect(sum([])).toBe(0);
    expect(largest([])).toBe(0);
  });

  it("take all values", () => {
    expect(sum([1, 2, 3])).toBe(6);
    expect(largest([1, 7, 3])).toBe(7);
  });
});
