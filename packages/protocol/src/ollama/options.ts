// The `options` of Ollama's requests. Each is honoured, refused, or reported as ignored, as unknown ones are.
import { generationOptions } from "@ingle/generation-options";
import { z } from "zod";

import { integerField, optionalField } from "../fields/field.ts";
import { absentSampler, samplingFields, windowField } from "../fields/sampling.ts";

/** Hints about how a model is loaded: they do not change a reply, and the server's own settings decide. */
const ollamaLoadHints = [
  "numa",
  "num_batch",
  "num_gpu",
  "main_gpu",
  "low_vram",
  "f16_kv",
  "logits_all",
  "vocab_only",
  "use_mmap",
  "use_mlock",
  "embedding_only",
  "num_thread",
  "num_keep",
  "draft_num_predict",
] as const;

function hint(name: (typeof ollamaLoadHints)[number]) {
  const rule = `options.${name} must be a number or true or false`;
  return optionalField(z.union([z.number(), z.boolean()], rule), "Ignored: the server's settings decide.");
}

const { seed, temperature, top_k, top_p, min_p, repeat_penalty, presence_penalty, frequency_penalty, stop } =
  samplingFields;
const { typical_p, mirostat, mirostat_tau, mirostat_eta } = samplingFields;

const fields = {
  num_ctx: optionalField(
    integerField("options.num_ctx", { min: 1, max: 2 ** 31 - 1 }),
    "The context that the request needs, in tokens; at most the model's.",
  ),
  num_predict: optionalField(
    integerField("options.num_predict", { min: -2 }),
    "Maximum number of tokens per reply; 0, -1 and -2 mean no limit.",
    -1,
  ),
  repeat_last_n: windowField(generationOptions.repeatLastN, "options.repeat_last_n"),
  seed,
  temperature,
  top_k,
  top_p,
  min_p,
  repeat_penalty,
  presence_penalty,
  frequency_penalty,
  stop,
  typical_p,
  mirostat,
  mirostat_tau,
  mirostat_eta,
  tfs_z: absentSampler("options.tfs_z", 1),
  penalize_newline: absentSampler("options.penalize_newline", true),
  numa: hint("numa"),
  num_batch: hint("num_batch"),
  num_gpu: hint("num_gpu"),
  main_gpu: hint("main_gpu"),
  low_vram: hint("low_vram"),
  f16_kv: hint("f16_kv"),
  logits_all: hint("logits_all"),
  vocab_only: hint("vocab_only"),
  use_mmap: hint("use_mmap"),
  use_mlock: hint("use_mlock"),
  embedding_only: hint("embedding_only"),
  num_thread: hint("num_thread"),
  num_keep: hint("num_keep"),
  draft_num_predict: hint("draft_num_predict"),
};

export const OllamaOptions = z.looseObject(fields, "options must be an object").meta({ id: "OllamaOptions" });
export type OllamaOptions = z.infer<typeof OllamaOptions>;

const hints: ReadonlySet<string> = new Set(ollamaLoadHints);

/** The names of given options that have no effect: hints, and options that nobody knows. */
export function ignoredOllamaOptions(options: OllamaOptions = {}): string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    const isIgnored = hints.has(name) || !Object.hasOwn(fields, name);
    return isIgnored && value !== undefined && value !== null ? [name] : [];
  });
}
