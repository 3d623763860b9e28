import { describe, expect, it } from "vitest";
import { BenchError } from "../bench-error.ts";
import { parseSpeeds } from "./llama-tools.ts";

describe("parseSpeeds", () => {
  it("tells the test of the prompt from that of the generation", () => {
    const tests = [
      { n_prompt: 256, n_gen: 0, avg_ts: 120.5 },
      { n_prompt: 0, n_gen: 64, avg_ts: 31.25 },
    ];
    const speeds = { promptTokensPerSecond: 120.5, tokensPerSecond: 31.25 };
    expect(parseSpeeds(JSON.stringify(tests))).toEqual(speeds);
    expect(parseSpeeds(JSON.stringify(tests.slice(1)))).toEqual({ tokensPerSecond: 31.25 });
  });

  it.each(["error: no such model", "[]"])("refuses %j", (output) => {
    expect(() => parseSpeeds(output)).toThrow(BenchError);
  });
});
