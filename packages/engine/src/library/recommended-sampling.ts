// The sampling that a model's makers recommend: the keys `general.sampling.*` of its file, which llama.cpp's converter and ours take
// from a `generation_config.json`.
import type { GgufMetadata } from "@ingle/gguf";
import {
  generationOptions,
  optionNames,
  type GenerationOption,
  type OptionName,
  type OptionTable,
} from "@ingle/generation-options";
import { Sampling } from "../generate/sampling.ts";

const prefix = "general.sampling.";

/** The options that have a key. */
type RecommendedName = {
  [Name in OptionName]: OptionTable[Name] extends { ggufKey: string } ? Name : never;
}[OptionName];

const recommendedNames = optionNames.filter(
  (name): name is RecommendedName => "ggufKey" in generationOptions[name],
);

/** Options that the file does not have, or whose values cannot be used, are absent. */
export type RecommendedSampling = Partial<Pick<Sampling, RecommendedName>>;

export function recommendedSampling(metadata: GgufMetadata): RecommendedSampling {
  const found: Record<string, unknown> = {};
  for (const name of recommendedNames) {
    const option = generationOptions[name];
    const entry = metadata.get(`${prefix}${option.ggufKey}`);
    if (entry === undefined || !("value" in entry)) continue;
    const checked = Sampling.shape[name].safeParse(optionValue(entry.value, option));
    if (checked.success) found[name] = checked.data;
  }
  return found;
}

/** A value of the file in the form of a request: -1 stands for the whole window, and samplers are separated by semicolons. */
function optionValue(value: unknown, option: GenerationOption): unknown {
  if (typeof value === "string") return option.kind === "samplers" ? value.split(";") : value;
  const number = typeof value === "bigint" ? Number(value) : value;
  if (typeof number !== "number") return number;
  if (number === -1 && "isWindow" in option) return option.max;
  // Files have 32-bit numbers: 0.95 is stored as 0.949999988, and is meant as 0.95.
  return Number(number.toPrecision(7));
}
