import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { axisTop, linePoints, RollingSamples } from "./rolling-samples.ts";

describe("rolling samples", () => {
  it("keeps the window, and one sample before it", () => {
    const rolling = new RollingSamples<number>(1000);
    for (const at of [0, 400, 900, 1300, 1900]) rolling.add(at, at);
    expect(rolling.samples.map(({ at }) => at)).toEqual([400, 900, 1300, 1900]);
  });

  it("keeps the last of two samples with the same time", () => {
    const rolling = new RollingSamples<string>(1000);
    rolling.add(5, "first");
    rolling.add(5, "second");
    expect(rolling.samples).toEqual([{ at: 5, values: "second" }]);
  });

  it("can be cleared", () => {
    const rolling = new RollingSamples<number>(1000);
    rolling.add(1, 1);
    rolling.clear();
    expect(rolling.samples).toEqual([]);
    expect(rolling.last).toBeUndefined();
  });

  it("stays small, sorted and current, whatever is added", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5000), { minLength: 1, maxLength: 300 }), (steps) => {
        const rolling = new RollingSamples<number>(2000);
        let at = 0;
        for (const step of steps) rolling.add((at += step), step);
        const times = rolling.samples.map((sample) => sample.at);
        expect(times).toEqual(times.toSorted((a, b) => a - b));
        expect(times.at(-1)).toBe(at);
        expect(times.filter((time) => time < at - 2000).length).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe("a line", () => {
  const box = { width: 100, height: 50 };

  it("begins at its first sample, and ends at the right edge with the last value", () => {
    const samples = [
      { at: 0, values: 0 },
      { at: 500, values: 10 },
    ];
    const points = linePoints(samples, (value) => value, { now: 1000, windowMs: 1000, max: 20, box });
    expect(points).toBe("0,50 50,25 100,25");
  });

  it("stays level over a gap", () => {
    const samples = [
      { at: 0, values: 10 },
      { at: 8000, values: 20 },
    ];
    const points = linePoints(samples, (value) => value, { now: 10_000, windowMs: 10_000, max: 20, box });
    expect(points).toBe("0,25 80,25 80,0 100,0");
  });

  it("never leaves the box", () => {
    const samples = [{ at: -500, values: 99 }];
    expect(linePoints(samples, (value) => value, { now: 1000, windowMs: 1000, max: 20, box })).toBe(
      "0,0 100,0",
    );
  });

  it("is empty without samples, and flat without height", () => {
    expect(linePoints<number>([], (value) => value, { now: 0, windowMs: 1, max: 1, box })).toBe("");
    expect(linePoints([{ at: 0, values: 0 }], (v) => v, { now: 0, windowMs: 1, max: 0, box })).toBe(
      "100,50 100,50",
    );
  });
});

describe("the top of an axis", () => {
  it.each([
    [[0], 1, 1],
    [[0.4], 1, 1],
    [[3], 1, 5],
    [[7.5, 2], 1, 10],
    [[10], 1, 10],
    [[11], 1, 20],
    [[180], 10, 200],
    [[], 10, 10],
  ])("over %j, at least %d, is %d", (values, min, top) => {
    expect(axisTop(values, min)).toBe(top);
  });
});
