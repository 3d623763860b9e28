import type { GgufHeader } from "@ingle/gguf";
import { describe, expect, it } from "vitest";
import { BenchError } from "../bench-error.ts";
import { limitSpeeds, medians, parseBatchedBench, speedsIn } from "./measure.ts";

describe("speedsIn", () => {
  const tests = [
    { n_prompt: 256, n_gen: 0, avg_ts: 1200.5 },
    { n_prompt: 512, n_gen: 0, avg_ts: 1100.25 },
    { n_prompt: 0, n_gen: 32, avg_ts: 90 },
  ];

  it("tells prompts of two lengths and a reply from each other", () => {
    expect(speedsIn(JSON.stringify(tests))).toEqual({ prompt256: 1200.5, prompt512: 1100.25, reply: 90 });
  });

  it.each([
    ["a test is missing", JSON.stringify(tests.slice(1))],
    ["it is no JSON", "error: no model"],
  ])("refuses a report if %s", (_, output) => {
    expect(() => speedsIn(output)).toThrow(BenchError);
  });
});

describe("parseBatchedBench", () => {
  const table = [
    "llama_model_loader: a line of the log",
    "|    PP |     TG |    B |   N_KV |   T_PP s | S_PP t/s |   T_TG s | S_TG t/s |      T s |    S t/s |",
    "|-------|--------|------|--------|----------|----------|----------|----------|----------|----------|",
    "|    16 |     32 |    8 |    384 |    0.123 |  1040.65 |    0.654 |   391.44 |    0.777 |   494.21 |",
    "",
  ];

  it("takes the speed of the replies", () => {
    expect(parseBatchedBench(table.join("\n"))).toBe(391.44);
  });

  it.each([
    ["no row", table.slice(0, 3)],
    ["no head", table.slice(3)],
    ["two rows", [...table, table[3] ?? ""]],
  ])("refuses a table with %s", (_, lines) => {
    expect(() => parseBatchedBench(lines.join("\n"))).toThrow(BenchError);
  });
});

it("limits replies by reading the weights, and prompts by multiplying them", () => {
  const header: GgufHeader = {
    metadata: new Map(),
    tensors: [{ name: "output.weight", typeCode: 8, shape: [64, 100], offset: 0, sizeBytes: 6_800 }],
    bytes: 0,
  };
  expect(limitSpeeds(header, { bytesPerSecond: 68_000, productsPerSecond: 640_000 })).toEqual({
    prompt256: 2_560,
    prompt512: 5_120,
    reply: 10,
    replies: 80,
  });
});

it("takes the median of each figure", () => {
  const rounds = [
    { prompt256: 3, reply: 30 },
    { prompt256: 1, reply: 10 },
    { prompt256: 2, reply: 50 },
  ];
  expect(medians(rounds)).toEqual({ prompt256: 2, reply: 30 });
});
