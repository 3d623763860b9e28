// GET /v1/models: the models that the server can serve, in the shapes of OpenAI's and Anthropic's clients.
import { z } from "zod";

import { integerParameter, optionalField, responseObject, stringField } from "./fields/field.ts";
import { modelLengthMax } from "./fields/request-fields.ts";

/**
 * What a model can do besides generating text. `embeddings`: it computes vectors and generates no text. `tools` and `thinking`:
 * its chat template supports them. `vision` and `audio`: it reads images, and takes audio.
 */
export const ModelCapability = z
  .enum(["vision", "audio", "tools", "thinking", "embeddings"])
  .meta({ id: "ModelCapability" });
export type ModelCapability = z.infer<typeof ModelCapability>;

/** One model. Sizes are `null` if they are not known before the model is loaded. */
export const ModelEntry = responseObject("ModelEntry", {
  id: z.string().describe("The value for a request's `model`."),
  object: z.literal("model"),
  parent: z.string().optional().describe("Of an adapter: the model that it belongs to. Models have none."),
  created: z.int().describe("Unix seconds."),
  owned_by: z.string(),
  context_length: z.int().nullable().describe("Maximum number of tokens per request, prompt and reply."),
  max_model_len: z
    .int()
    .nullable()
    .describe("The same as context_length, under the name that other servers use."),
  context_length_train: z
    .int()
    .nullable()
    .describe("Maximum number of tokens that the model was trained for; context_length may be less."),
  input_modalities: z.array(z.enum(["text", "image", "audio"])),
  capabilities: z
    .array(ModelCapability)
    .describe("From its file's header, so known even before it is loaded."),
  quantization: z.string().nullable().describe("For example Q4_K_M."),
  size_bytes: z.int().nullable().describe("Bytes of the weights."),
  n_params: z.int().nullable().describe("The number of parameters."),
  status: z.enum(["loaded", "loading", "available"]),
});
export type ModelEntry = z.infer<typeof ModelEntry>;

/** The response of `GET /v1/models`: only models that can be served. */
export const ModelList = responseObject("ModelList", {
  object: z.literal("list"),
  data: z.array(ModelEntry),
  models: z
    .array(z.never())
    .optional()
    .describe("Empty, and only with client_version: Codex cannot read a list without it."),
});
export type ModelList = z.infer<typeof ModelList>;

/** Maximum number of models per page, as in Anthropic's API. */
export const modelsPageMax = 1_000;

/** Which page to return, which is only read with the header `anthropic-version`; and what Codex sends. */
export const ModelsQuery = z.looseObject({
  client_version: optionalField(
    stringField("client_version", { max: modelLengthMax }),
    "Codex's version. The response then has an empty list of models in Codex's own form, so that it uses what it knows itself.",
  ),
  limit: optionalField(
    integerParameter("limit", { min: 1, max: modelsPageMax }),
    "Maximum number of models in the response. Like the other parameters, only read with the header anthropic-version.",
    modelsPageMax,
  ),
  after_id: optionalField(
    stringField("after_id", { max: modelLengthMax }),
    "Returns the models after this one.",
  ),
  before_id: optionalField(
    stringField("before_id", { max: modelLengthMax }),
    "Returns the models before this one.",
  ),
});
export type ModelsQuery = z.infer<typeof ModelsQuery>;

/** One model in Anthropic's shape. */
export const AnthropicModel = responseObject("AnthropicModel", {
  type: z.literal("model"),
  id: z.string().describe("The value for a request's `model`."),
  display_name: z.string(),
  created_at: z.string().describe("In the format of RFC 3339."),
  max_input_tokens: z.int().nullable().describe("Maximum number of tokens per request."),
  max_tokens: z.int().nullable().describe("The same: prompt and reply share them."),
});
export type AnthropicModel = z.infer<typeof AnthropicModel>;

/** A page of them. */
export const AnthropicModelList = responseObject("AnthropicModelList", {
  data: z.array(AnthropicModel),
  has_more: z.boolean().describe("Whether there are more in the requested direction."),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});
export type AnthropicModelList = z.infer<typeof AnthropicModelList>;
