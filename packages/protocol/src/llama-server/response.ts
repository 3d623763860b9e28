// The responses of llama-server's own routes.
import {
  generationOptions,
  isNumber,
  optionNames,
  type NumberName,
  type OptionTable,
} from "@ingle/generation-options";
import { z } from "zod";

import { responseObject } from "../fields/field.ts";
import { promptProgress } from "../fields/report-fields.ts";
import { ModelEntry } from "../models.ts";
import { Timings } from "../usage.ts";

/** The body of every error of these routes. It has no name in the API's document, where named ones list our codes: `code` is the HTTP status. */
export const LlamaServerError = z.object({
  error: z.object({
    code: z.int().describe("The HTTP status."),
    message: z.string(),
    type: z.string(),
    param: z.string().nullable().describe("The wrong field of the request, or null."),
    n_prompt_tokens: z.int().optional(),
    n_ctx: z.int().optional(),
  }),
});
export type LlamaServerError = z.infer<typeof LlamaServerError>;

export const LlamaServerTimings = Timings.extend({
  prompt_per_token_ms: z.number(),
  predicted_per_token_ms: z.number(),
});
export type LlamaServerTimings = z.infer<typeof LlamaServerTimings>;

const probability = {
  id: z.int(),
  token: z.string().describe("The token's text; partial characters are U+FFFD."),
  bytes: z.array(z.int()),
  logprob: z.number().describe("Natural logarithm of the probability; -9999 if that is 0."),
};
const LlamaServerProbability = z.object({ ...probability, top_logprobs: z.array(z.object(probability)) });
export type LlamaServerProbability = z.infer<typeof LlamaServerProbability>;

/** llama-server has no `min_tokens`. */
type NumberSettings = {
  [Name in Exclude<NumberName, "minTokens"> as OptionTable[Name]["field"]]: z.ZodNumber;
};

function numberSettings(): NumberSettings {
  const names = optionNames.filter((name) => isNumber(name) && name !== "minTokens");
  const fields = names.map((name) => {
    const { field, kind } = generationOptions[name];
    return [field, kind === "number" ? z.number() : z.int()];
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type is computed from the table as the value is
  return Object.fromEntries(fields) as NumberSettings;
}

/** The settings that the request generates with. */
export const LlamaServerSettings = responseObject("LlamaServerSettings", {
  n_predict: z.int(),
  max_tokens: z.int(),
  seed: z.number().describe("4294967295 for a random one."),
  ...numberSettings(),
  stop: z.array(z.string()),
  dry_sequence_breakers: z.array(z.string()),
  samplers: z.array(z.string()),
  grammar: z.string(),
  n_probs: z.int(),
  ignore_eos: z.boolean(),
  stream: z.boolean(),
  timings_per_token: z.boolean(),
  post_sampling_probs: z.literal(false),
  min_keep: z.literal(0),
  n_keep: z.literal(0),
  lora: z.array(z.object({ id: z.union([z.string(), z.int()]), scale: z.number() })),
});
export type LlamaServerSettings = z.infer<typeof LlamaServerSettings>;

const common = {
  index: z.int().describe("Numbers the replies to the first prompt, then those to the next."),
  content: z.string(),
  tokens: z
    .array(z.int())
    .describe("Ids of these tokens; empty in whole replies unless return_tokens is true."),
  id_slot: z.int().describe("The slot that names the text once the reply has ended."),
  tokens_predicted: z.int(),
  tokens_evaluated: z.int().describe("Tokens of the prompt."),
  completion_probabilities: z.array(LlamaServerProbability).optional().describe("If n_probs is above 0."),
};

/** One event of a stream, except the last one of each reply. */
export const LlamaServerChunk = responseObject("LlamaServerChunk", {
  ...common,
  stop: z.literal(false),
  timings: LlamaServerTimings.partial().optional().describe("If timings_per_token is true."),
  prompt_progress: promptProgress,
});
export type LlamaServerChunk = z.infer<typeof LlamaServerChunk>;

/** A complete reply; in a stream, its last event, whose content is empty. */
export const LlamaServerCompletion = responseObject("LlamaServerCompletion", {
  ...common,
  stop: z.literal(true),
  model: z.string(),
  generation_settings: LlamaServerSettings,
  prompt: z.string(),
  has_new_line: z.boolean(),
  truncated: z.boolean().describe("Whether the context was full."),
  stop_type: z.enum(["eos", "word", "limit"]),
  stopping_word: z.string(),
  tokens_cached: z.int().describe("Tokens of the prompt that came from the prefix cache."),
  timings: LlamaServerTimings,
});
export type LlamaServerCompletion = z.infer<typeof LlamaServerCompletion>;

export const LlamaServerTemplate = responseObject("LlamaServerTemplate", { prompt: z.string() });
export type LlamaServerTemplate = z.infer<typeof LlamaServerTemplate>;

/** The single vector is inside a list, as if there were one per token. */
export const LlamaServerEmbeddings = z
  .array(z.object({ index: z.int(), embedding: z.array(z.array(z.number())) }))
  .meta({ id: "LlamaServerEmbeddings" });
export type LlamaServerEmbeddings = z.infer<typeof LlamaServerEmbeddings>;

/** `meta` repeats fields under llama-server's names. */
export const LlamaServerModels = responseObject("LlamaServerModels", {
  object: z.literal("list"),
  data: z.array(
    ModelEntry.extend({
      meta: z.object({
        n_ctx: z.int().nullable(),
        n_params: z.int().nullable(),
        size: z.int().nullable(),
        ftype: z.string().nullable(),
      }),
    }),
  ),
});
export type LlamaServerModels = z.infer<typeof LlamaServerModels>;

export const LlamaServerProps = responseObject("LlamaServerProps", {
  default_generation_settings: z.object({ params: LlamaServerSettings, n_ctx: z.int() }),
  total_slots: z.int().describe("Requests that are computed at the same time."),
  model_alias: z.string(),
  model_path: z.string().describe("The model's id: paths of the server's files are not shown."),
  model_ftype: z.string(),
  modalities: z.object({ vision: z.boolean(), audio: z.boolean(), video: z.literal(false) }),
  media_marker: z.string(),
  chat_template: z.string(),
  chat_template_caps: z.object({ supports_tools: z.boolean(), supports_tool_calls: z.boolean() }),
  bos_token: z.string(),
  eos_token: z.string(),
  build_info: z.string(),
  endpoint_slots: z.literal(true),
  endpoint_metrics: z.literal(true),
  endpoint_props: z.literal(false).describe("Properties cannot be changed."),
  is_sleeping: z.literal(false),
});
export type LlamaServerProps = z.infer<typeof LlamaServerProps>;

export const LlamaServerSlots = z
  .array(z.object({ id: z.int(), n_ctx: z.int(), is_processing: z.boolean() }))
  .meta({ id: "LlamaServerSlots" });
export type LlamaServerSlots = z.infer<typeof LlamaServerSlots>;

/** What `POST /slots/{id}` has done, by its action. */
export const LlamaServerSlotChange = z
  .union([
    z.object({
      id_slot: z.int(),
      filename: z.string(),
      n_saved: z.int().describe("Tokens whose state was saved."),
      n_written: z.int().describe("Size of the file in bytes."),
      timings: z.object({ save_ms: z.number() }),
    }),
    z.object({
      id_slot: z.int(),
      filename: z.string(),
      n_restored: z.int().describe("Tokens that the next request with this text does not compute."),
      n_read: z.int().describe("Size of the file in bytes."),
      timings: z.object({ restore_ms: z.number() }),
    }),
    z.object({ id_slot: z.int(), n_erased: z.int().describe("Tokens that are no longer cached.") }),
  ])
  .meta({ id: "LlamaServerSlotChange" });
export type LlamaServerSlotChange = z.infer<typeof LlamaServerSlotChange>;

export const LlamaServerAdapters = z
  .array(
    z.object({
      id: z.int().describe("Its place among the model's adapters."),
      path: z.string().describe("Its name: paths of the server's files are not shown."),
      scale: z.number().describe("For requests that choose no adapters; 0 unless it was set."),
    }),
  )
  .meta({ id: "LlamaServerAdapters" });
export type LlamaServerAdapters = z.infer<typeof LlamaServerAdapters>;
