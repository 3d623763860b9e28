// generation_config.json: the sampling that the model's makers recommend, under the keys that llama.cpp has for it in a GGUF file.
import type { GgufValue } from "@ingle/gguf";

import { isObject, readJson } from "./json-file.ts";

/** Usual ones have a few hundred bytes. */
const CONFIG_BYTES_MAX = 1024 * 1024;

/** Keys without `general.sampling.`, and the types of their values, by the file's fields. */
const keys: Readonly<Record<string, readonly [key: string, type: "float32" | "int32"]>> = {
  temperature: ["temp", "float32"],
  top_k: ["top_k", "int32"],
  top_p: ["top_p", "float32"],
  min_p: ["min_p", "float32"],
  repetition_penalty: ["penalty_repeat", "float32"],
};

/** Empty without the file. Fields that are not numbers are left out. Throws `mlx_malformed`, `mlx_limit` and file system errors. */
export async function samplingMetadata(folder: string): Promise<[string, GgufValue][]> {
  const config = await readJson(folder, "generation_config.json", CONFIG_BYTES_MAX);
  if (!isObject(config)) return [];
  return Object.entries(keys).flatMap(([field, [key, type]]): [string, GgufValue][] => {
    const value = config[field];
    const isUsable = type === "int32" ? Number.isSafeInteger(value) : Number.isFinite(value);
    return typeof value === "number" && isUsable ? [[`general.sampling.${key}`, { type, value }]] : [];
  });
}
