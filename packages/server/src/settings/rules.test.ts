import { describe, expect, it } from "vitest";
import { layerRange, time } from "./rules.ts";

describe("a time", () => {
  it.each([
    ["30s", 30_000],
    ["30", 30_000],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["250ms", 250],
    ["0", 0],
  ])("%s is %i ms", (text, ms) => {
    expect(time().parse(text)).toBe(ms);
  });

  it.each(["", "s", "-1s", "1.5s", "1d", "5 m", "1e3", "1000h", "999999999999h", 30, null])(
    "%j is not one",
    (text) => {
      expect(time().safeParse(text).success).toBe(false);
    },
  );

  it("has a shortest value", () => {
    expect(time({ min: 1_000 }).safeParse("999ms").success).toBe(false);
  });
});

describe("a range of layers", () => {
  it("has a first and a last one", () => {
    expect(layerRange.parse("10-31")).toEqual({ first: 10, last: 31 });
    expect(layerRange.parse("7-7")).toEqual({ first: 7, last: 7 });
  });

  it.each(["", "10", "10-", "0-5", "31-10", "1-99999", "1 - 2", "a-b"])("%j is not one", (text) => {
    expect(layerRange.safeParse(text).success).toBe(false);
  });
});
