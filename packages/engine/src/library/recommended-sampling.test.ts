import type { GgufValue } from "@ingle/gguf";
import { expect, test } from "vitest";
import { recommendedSampling } from "./recommended-sampling.ts";

const float = (value: number): GgufValue => ({ type: "float32", value: Math.fround(value) });
const int = (value: number): GgufValue => ({ type: "int32", value });
const of = (keys: Record<string, GgufValue>): object =>
  recommendedSampling(
    new Map(Object.entries(keys).map(([key, value]) => [`general.sampling.${key}`, value] as const)),
  );

test("takes every key of llama.cpp's under the engine's names", () => {
  const found = of({
    temp: float(0.3),
    top_k: int(20),
    top_p: float(0.95),
    min_p: float(0.15),
    xtc_probability: float(0.5),
    xtc_threshold: float(0.2),
    penalty_last_n: int(-1),
    penalty_repeat: float(1.05),
    mirostat: int(2),
    mirostat_tau: float(4),
    mirostat_eta: float(0.2),
    sequence: { type: "string", value: "top_k;temperature" },
  });
  expect(found).toEqual({
    temperature: 0.3,
    topK: 20,
    topP: 0.95,
    minP: 0.15,
    xtcProbability: 0.5,
    xtcThreshold: 0.2,
    repeatLastN: 4096,
    repeatPenalty: 1.05,
    mirostat: 2,
    mirostatTau: 4,
    mirostatEta: 0.2,
    samplers: ["top_k", "temperature"],
  });
});

test("leaves out what a request could not have", () => {
  const wrong = {
    temp: float(-1),
    top_k: float(2.5),
    top_p: { type: "string", value: "high" },
    min_p: float(Number.NaN),
    penalty_repeat: { type: "float32", values: [1.1] },
    sequence: { type: "string", value: "top_k;infill" },
  } as const satisfies Record<string, GgufValue>;
  expect(of(wrong)).toEqual({});
  expect(of({})).toEqual({});
});
