// Models in LM Studio's APIs: v0 lists them, and v1 manages them. v1 shares its paths with our own management: requests to load and
// unload may have either form, and responses have the fields of both.
import { z } from "zod";

import { flag, optionalField, refusedField, responseObject, stringField } from "../fields/field.ts";
import { bodyRule, modelField, modelLengthMax } from "../fields/request-fields.ts";
import { LoadRequest, ManagedModel, ManagedModelList, UnloadRequest } from "../management/models.ts";

const ModelType = z.enum(["llm", "embedding"]);

const loadConfig = z.object({
  context_length: z.int().describe("Tokens of one request."),
  parallel: z.int().optional().describe("Maximum number of requests computed at the same time."),
  eval_batch_size: z.int().optional().describe("Absent unless it was set."),
  flash_attention: z.boolean().optional().describe("Absent unless it was set."),
  offload_kv_cache_to_gpu: z.boolean().optional().describe("Absent unless it was set."),
});
export type LmStudioLoadConfig = z.infer<typeof loadConfig>;

const ListedModel = z.object({
  type: ModelType,
  publisher: z.string().describe("The part of the key before the slash, else local."),
  key: z.string().describe("The value for a request's `model`."),
  display_name: z.string().describe("The part of the key after the slash."),
  architecture: z
    .string()
    .nullable()
    .optional()
    .describe("Null until the file is read; absent for embeddings."),
  quantization: z
    .object({ name: z.string(), bits_per_weight: z.int().nullable().describe("As the name says.") })
    .nullable(),
  size_bytes: z.int().describe("0 while unknown."),
  params_string: z.string().nullable().describe("Such as 1.2B; null until the model was loaded."),
  loaded_instances: z
    .array(z.object({ id: z.string(), config: loadConfig }))
    .describe("One while the model is in memory, and none otherwise."),
  max_context_length: z.int().describe("Tokens that it was trained for; 0 until the file is read."),
  format: z.enum(["gguf", "mlx"]).nullable(),
  capabilities: z
    .object({ vision: z.boolean(), trained_for_tool_use: z.boolean() })
    .optional()
    .describe("Absent for embeddings."),
  description: z.null().optional(),
});
export type LmStudioListedModel = z.infer<typeof ListedModel>;

/** The response of `GET /api/v1/models`: ours, and `models` in LM Studio's form. */
export const LmStudioManagedModelList = responseObject("LmStudioManagedModelList", {
  ...ManagedModelList.shape,
  models: z.array(ListedModel),
});
export type LmStudioManagedModelList = z.infer<typeof LmStudioManagedModelList>;

const { batch_size: batchSize, context_length: contextLength } = LoadRequest.shape;

/** The body of `POST /api/v1/models/load`: ours, or LM Studio's. */
export const LmStudioLoadRequest = z
  .looseObject(
    {
      ...LoadRequest.shape,
      context_length: contextLength,
      eval_batch_size: batchSize.describe("LM Studio's name of batch_size."),
      flash_attention: flag("flash_attention", "LM Studio's name of flash_attn."),
      offload_kv_cache_to_gpu: flag("offload_kv_cache_to_gpu", "LM Studio's name of kv_offload."),
      num_experts: refusedField(
        "num_experts is not supported; override_kv can set expert_used_count of the model's architecture",
      ),
      echo_load_config: flag("echo_load_config", "Adds load_config to the response.", false),
    },
    bodyRule,
  )
  .meta({ id: "LmStudioLoadRequest" });
export type LmStudioLoadRequest = z.infer<typeof LmStudioLoadRequest>;

export const LmStudioLoadedModel = responseObject("LmStudioLoadedModel", {
  ...ManagedModel.shape,
  type: ModelType,
  instance_id: z.string().describe("The model's id."),
  load_time_seconds: z.number().optional().describe("Absent if the request did not wait."),
  load_config: loadConfig.optional(),
});
export type LmStudioLoadedModel = z.infer<typeof LmStudioLoadedModel>;

/** The body of `POST /api/v1/models/unload`: ours, or LM Studio's. */
export const LmStudioUnloadRequest = z
  .looseObject(
    {
      ...UnloadRequest.shape,
      model: optionalField(modelField, "A model's id or alias."),
      instance_id: optionalField(
        stringField("instance_id", { max: modelLengthMax }),
        "The same in LM Studio's form.",
      ),
    },
    bodyRule,
  )
  .superRefine(({ model, instance_id }, context) => {
    if (model === undefined && instance_id === undefined)
      context.addIssue({
        code: "custom",
        path: ["model"],
        message: "model or instance_id is missing: name one",
      });
  })
  .meta({ id: "LmStudioUnloadRequest" });
export type LmStudioUnloadRequest = z.infer<typeof LmStudioUnloadRequest>;

export const LmStudioUnloadedModel = responseObject("LmStudioUnloadedModel", {
  ...ManagedModel.shape,
  instance_id: z.string(),
});
export type LmStudioUnloadedModel = z.infer<typeof LmStudioUnloadedModel>;

/** Maximum length of the name of a quantization, in UTF-16 units. */
const quantizationLengthMax = 200;

/** The body of `POST /api/v1/models/download`. */
export const LmStudioDownloadRequest = z
  .looseObject(
    {
      model: modelField.describe("What `ingle pull` takes, or the address of a repository of the hub."),
      quantization: optionalField(
        stringField("quantization", { min: 1, max: quantizationLengthMax, hint: ", such as Q4_K_M" }),
        "Which of the repository's models, if `model` does not say it.",
      ),
    },
    bodyRule,
  )
  .meta({ id: "LmStudioDownloadRequest" });
export type LmStudioDownloadRequest = z.infer<typeof LmStudioDownloadRequest>;

/** A download, which is a job of `/api/v1/jobs`. */
export const LmStudioDownload = responseObject("LmStudioDownload", {
  job_id: z.string().optional().describe("Absent if the model was there already."),
  status: z.enum(["downloading", "paused", "completed", "failed", "already_downloaded"]),
  bytes_per_second: z.number().optional(),
  estimated_completion: z.string().optional().describe("Times are in the format of RFC 3339."),
  completed_at: z.string().optional(),
  total_size_bytes: z.int().optional().describe("Absent while unknown."),
  downloaded_bytes: z.int().optional(),
  started_at: z.string().optional(),
  error: z.string().optional().describe("Why it failed."),
});
export type LmStudioDownload = z.infer<typeof LmStudioDownload>;

/** An error of the routes that only LM Studio's API v1 has. */
export const LmStudioError = responseObject("LmStudioError", {
  error: z.object({
    type: z.enum(["invalid_request", "model_not_found", "job_not_found", "internal_error", "unknown"]),
    message: z.string(),
    code: z.string().describe("As in all errors of this server."),
    param: z.string().optional(),
  }),
});
export type LmStudioError = z.infer<typeof LmStudioError>;

/** One model of `GET /api/v0/models`. */
export const LmStudioModel = responseObject("LmStudioModel", {
  id: z.string().describe("The value for a request's `model`."),
  object: z.literal("model"),
  type: z.enum(["llm", "vlm", "embeddings"]).describe("`vlm` reads images."),
  publisher: z.string().describe("The part of the id before the slash, else local."),
  arch: z.string().describe("Empty until the file is read."),
  compatibility_type: z.enum(["gguf", "mlx"]),
  quantization: z.string(),
  state: z.enum(["loaded", "loading", "not-loaded"]),
  max_context_length: z
    .int()
    .describe("Tokens of context that it was trained for; 0 until the file is read."),
  loaded_context_length: z
    .int()
    .optional()
    .describe("Tokens of one request; absent while the model is not loaded."),
  capabilities: z.array(z.string()).describe("tool_use, if its chat template includes tools."),
});
export type LmStudioModel = z.infer<typeof LmStudioModel>;

/** The response of `GET /api/v0/models`: every known model, loaded or not. */
export const LmStudioModels = responseObject("LmStudioModels", {
  object: z.literal("list"),
  data: z.array(LmStudioModel),
});
export type LmStudioModels = z.infer<typeof LmStudioModels>;
