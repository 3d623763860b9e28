// generation_config.json: the sampling that the model's makers recommend, and the tokens that must never be sampled, under the keys that
// llama.cpp has for them in a GGUF file.
import type { GgufValue } from "@ingle/gguf";

import { z } from "zod";

import { MlxError } from "./errors.ts";
import { isObject, readJson } from "./json-file.ts";

/** Usual ones have a few hundred bytes. */
const CONFIG_BYTES_MAX = 1024 * 1024;

const Ids = z.array(z.int().min(0).max(0x7fff_ffff));

/** Keys without `general.sampling.`, and the types of their values, by the file's fields. */
const keys: Readonly<Record<string, readonly [key: string, type: "float32" | "int32"]>> = {
  temperature: ["temp", "float32"],
  top_k: ["top_k", "int32"],
  top_p: ["top_p", "float32"],
  min_p: ["min_p", "float32"],
  repetition_penalty: ["penalty_repeat", "float32"],
};

/**
 * Empty without the file. Fields that are not numbers are left out. Throws `mlx_malformed` (also for `suppress_tokens` that are not token
 * ids: without them, the model would write what its makers forbid), `mlx_limit` and file system errors.
 */
export async function samplingMetadata(folder: string): Promise<[string, GgufValue][]> {
  const config = await readJson(folder, "generation_config.json", CONFIG_BYTES_MAX);
  if (!isObject(config)) return [];
  const recommended = Object.entries(keys).flatMap(([field, [key, type]]): [string, GgufValue][] => {
    const value = config[field];
    const isUsable = type === "int32" ? Number.isSafeInteger(value) : Number.isFinite(value);
    return typeof value === "number" && isUsable ? [[`general.sampling.${key}`, { type, value }]] : [];
  });
  return [...recommended, ...suppressed(config["suppress_tokens"])];
}

function suppressed(given: unknown): [string, GgufValue][] {
  if (given === undefined || given === null) return [];
  const ids = Ids.safeParse(given);
  if (!ids.success)
    throw new MlxError(
      "mlx_malformed",
      "suppress_tokens in generation_config.json is not a list of token ids.",
    );
  const values = ids.data;
  return values.length === 0 ? [] : [["tokenizer.ggml.suppress_tokens", { type: "int32", values }]];
}
