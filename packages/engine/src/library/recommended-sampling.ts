// The sampling that a model's makers recommend: the keys `general.sampling.*` of its file, which llama.cpp's converter and ours take
// from a `generation_config.json`.
import type { GgufMetadata } from "@ingle/gguf";
import { z } from "zod";
import { repeatLastNMax } from "../samplers.ts";
import { Sampling } from "../sampling.ts";

const prefix = "general.sampling.";
const { shape } = Sampling;

/** -1 stands for the whole context. */
const lastN = z.preprocess((count) => (count === -1 ? repeatLastNMax : count), shape.repeatLastN);

/** Names separated by semicolons. */
const order = z.preprocess((text) => (typeof text === "string" ? text.split(";") : text), shape.samplers);

/** The options, by the last part of their keys. */
const options = {
  sequence: ["samplers", order],
  top_k: ["topK", shape.topK],
  top_p: ["topP", shape.topP],
  min_p: ["minP", shape.minP],
  xtc_probability: ["xtcProbability", shape.xtcProbability],
  xtc_threshold: ["xtcThreshold", shape.xtcThreshold],
  temp: ["temperature", shape.temperature],
  penalty_last_n: ["repeatLastN", lastN],
  penalty_repeat: ["repetitionPenalty", shape.repetitionPenalty],
  mirostat: ["mirostat", shape.mirostat],
  mirostat_tau: ["mirostatTau", shape.mirostatTau],
  mirostat_eta: ["mirostatEta", shape.mirostatEta],
} as const;

/** Options that the file does not have, or whose values cannot be used, are absent. */
export type RecommendedSampling = Partial<Pick<Sampling, (typeof options)[keyof typeof options][0]>>;

export function recommendedSampling(metadata: GgufMetadata): RecommendedSampling {
  const found: Record<string, unknown> = {};
  for (const [key, [name, rule]] of Object.entries(options)) {
    const entry = metadata.get(`${prefix}${key}`);
    if (entry === undefined || !("value" in entry)) continue;
    const checked = rule.safeParse(plain(entry.value));
    if (checked.success) found[name] = checked.data;
  }
  return found;
}

/** Files have 32-bit numbers: 0.95 is stored as 0.949999988, and is meant as 0.95. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  return typeof value === "number" ? Number(value.toPrecision(7)) : value;
}
