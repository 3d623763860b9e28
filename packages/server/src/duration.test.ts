import { describe, expect, it } from "vitest";
import { duration } from "./duration.ts";

describe("a time", () => {
  it.each([
    ["30s", 30_000],
    ["30", 30_000],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["250ms", 250],
    ["0", 0],
  ])("%s is %i ms", (text, ms) => {
    expect(duration({ minMs: 0 }).parse(text)).toBe(ms);
  });

  it.each(["", "s", "-1s", "1.5s", "1d", "5 m", "1e3", "1000h", "999999999999h", 30, null])(
    "%j is none",
    (text) => {
      expect(duration({ minMs: 0 }).safeParse(text).success).toBe(false);
    },
  );

  it("may be too short", () => {
    expect(duration({ minMs: 1_000 }).safeParse("999ms").success).toBe(false);
  });
});
