import { describe, expect, it } from "vitest";
import { BenchError } from "./bench-error.ts";
import { parseLlamaBench } from "./decode.ts";

describe("parseLlamaBench", () => {
  it("takes the speed of the one test", () => {
    expect(parseLlamaBench(JSON.stringify([{ n_prompt: 0, n_gen: 64, avg_ts: 21.5 }]))).toBe(21.5);
  });

  it.each([
    ["text that is no JSON", "error: no model"],
    ["no test", "[]"],
    ["two tests", JSON.stringify([{ avg_ts: 1 }, { avg_ts: 2 }])],
    ["a test without a speed", JSON.stringify([{ n_gen: 64 }])],
  ])("refuses %s", (_, output) => {
    expect(() => parseLlamaBench(output)).toThrow(BenchError);
  });
});
