import { describe, expect, it } from "vitest";
import { Durations } from "./durations.ts";

describe("durations", () => {
  it("know their percentiles to two percent, and their mean", () => {
    const durations = new Durations();
    for (let ms = 1; ms <= 10_000; ms += 1) durations.add(ms);
    for (const percent of [1, 50, 90, 99, 100]) {
      const exact = percent * 100;
      expect(durations.percentile(percent)).toBeGreaterThanOrEqual(exact);
      expect(durations.percentile(percent)).toBeLessThan(exact * 1.021);
    }
    expect(durations.mean()).toBe(5000.5);
    expect(durations.count).toBe(10_000);
  });

  it("count those below a tenth of a millisecond as none, and have no percentile without any", () => {
    const durations = new Durations();
    expect(durations.percentile(50)).toBeNaN();
    durations.add(0);
    durations.add(0.05);
    durations.add(7);
    expect(durations.percentile(50)).toBe(0);
    expect(durations.percentile(99)).toBeGreaterThanOrEqual(7);
  });
});
