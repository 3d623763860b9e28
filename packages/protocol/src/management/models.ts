// The models that a server manages under /api/v1/models: their states, and the requests to load, unload, pin and estimate them.
import { z } from "zod";

import {
  flag,
  integerField,
  optionalField,
  requestObject,
  responseObject,
  stringField,
} from "../fields/field.ts";
import { errorCodeField } from "../errors.ts";
import { ModelCapability } from "../models.ts";
import { modelField } from "../fields/request-fields.ts";
import { KvBits, kvBitsRule } from "../kv-bits.ts";
import { refineSampling, samplingFields } from "../fields/sampling.ts";
import { deviceFields } from "./device-fields.ts";

/** A model's progress into memory and out of it. */
export const ManagedModelStatus = z
  .enum([
    "available",
    "preparing",
    "loading",
    "loaded",
    "restarting",
    "draining",
    "unloading",
    "failed",
    "closed",
  ])
  .meta({ id: "ManagedModelStatus" });
export type ManagedModelStatus = z.infer<typeof ManagedModelStatus>;

/** One model that the server knows. Unknown values are `null`. */
export const ManagedModel = responseObject("ManagedModel", {
  id: z.string().describe("The value for a request's `model`."),
  aliases: z.array(z.string()).describe("The names that the user gave it."),
  status: ManagedModelStatus,
  progress: z.number().nullable().describe("How much is loaded, 0 to 1; null if it is not loading."),
  pinned: z.boolean().describe("It is neither evicted for other models nor unloaded when idle."),
  running: z.int().describe("Requests that use it now."),
  waiting: z.int().describe("Requests that wait until it is loaded."),
  context_length: z.int().nullable().describe("Maximum number of tokens per request."),
  context_length_train: z
    .int()
    .nullable()
    .describe("Maximum number of tokens that the model was trained for; context_length may be less."),
  quantization: z.string().nullable().describe("For example Q4_K_M."),
  format: z
    .enum(["gguf", "mlx"])
    .nullable()
    .describe("`mlx`: its GGUF file was converted from an MLX build."),
  architecture: z.string().nullable().describe("For example lfm2."),
  capabilities: z
    .array(ModelCapability)
    .describe(
      "From its file's header, so known even before it is loaded; tools and thinking from another chat template that it is loaded with.",
    ),
  sampling: z
    .record(z.string(), z.unknown())
    .describe(
      "The sampling that its makers recommend, from its file's header, by the names of a request's fields.",
    ),
  load_sampling: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe(
      "The `sampling` of the request that loaded it, or with which it will be loaded; null for none.",
    ),
  size_bytes: z.int().nullable().describe("Bytes of the weights."),
  memory_bytes: z
    .int()
    .nullable()
    .describe("Memory of its weights, KV cache and buffers; null while it is not in memory."),
  kv_bytes_per_token: z
    .int()
    .nullable()
    .describe("Memory of one token in the KV cache; null while there is no KV cache."),
  kv_bits_k: KvBits.nullable().describe("Bits of a key in its KV cache, now or once it is loaded."),
  kv_bits_v: KvBits.nullable().describe("The same for values."),
  loaded_at: z.int().nullable().describe("Unix seconds."),
  last_used_at: z.int().nullable().describe("Unix seconds."),
  removable: z.boolean().describe("It is in the library, so `remove` can delete it."),
  imported: z.boolean().describe("Its files were imported where they are: `remove` keeps them."),
  error: z.string().nullable().describe("Why the last load failed."),
  error_code: errorCodeField,
});
export type ManagedModel = z.infer<typeof ManagedModel>;

/** The memory of all models together. */
export const ModelMemory = responseObject("ModelMemory", {
  used_bytes: z.int(),
  budget_bytes: z.int().nullable().describe("Maximum memory that they may use; null means no limit."),
});
export type ModelMemory = z.infer<typeof ModelMemory>;

/** The response of `GET /api/v1/models`: every known model, loaded or not. */
export const ManagedModelList = responseObject("ManagedModelList", {
  object: z.literal("list"),
  data: z.array(ManagedModel),
  memory: ModelMemory,
});
export type ManagedModelList = z.infer<typeof ManagedModelList>;

/** The body of `POST /api/v1/models/unload`. With `wait: false`, the response does not wait until it is done. */
export const UnloadRequest = requestObject("UnloadRequest", { model: modelField, wait: flag("wait") });
export type UnloadRequest = z.infer<typeof UnloadRequest>;

/** The shortest context: a chat template alone takes about ten tokens. */
const contextLengthMin = 16;

/** Maximum length of a chat template, in UTF-16 units; the engine also limits its bytes. */
const chatTemplateMax = 64 * 1024;

function kvBits(name: string, description: string) {
  return optionalField(z.literal([...KvBits.values], `${name} ${kvBitsRule}`), description);
}

const loadSampling = z.object(samplingFields, "sampling must be an object").superRefine(refineSampling);

/** The body of `POST /api/v1/models/load`. Its settings last until a request unloads the model. */
export const LoadRequest = requestObject("LoadRequest", {
  ...UnloadRequest.shape,
  context_length: optionalField(
    integerField("context_length", { min: contextLengthMin }),
    "Maximum number of tokens per request, prompt and reply.",
  ),
  kv_bits: kvBits("kv_bits", "Bits of a value in the KV cache: fewer take less memory and are less exact."),
  kv_bits_k: kvBits("kv_bits_k", "The same for keys only."),
  kv_bits_v: kvBits("kv_bits_v", "The same for values only."),
  chat_template: optionalField(
    stringField("chat_template", { min: 1, max: chatTemplateMax }),
    "A chat template in Jinja, in place of the model's own; or chatml.",
  ),
  sampling: optionalField(
    loadSampling,
    "Defaults of this model's requests, by the names of their fields; they outrank the server's.",
  ),
  ...deviceFields,
});
export type LoadRequest = z.infer<typeof LoadRequest>;

const pinnedRule = "pinned must be true or false";

/** The body of `POST /api/v1/models/pin`; the response is the model. It lasts until the server ends. */
export const PinRequest = requestObject("PinRequest", { model: modelField, pinned: z.boolean(pinnedRule) });
export type PinRequest = z.infer<typeof PinRequest>;

/** The body of `POST /api/v1/models/estimate`: that of a load request. Nothing is loaded. */
export const EstimateRequest = requestObject("EstimateRequest", { ...LoadRequest.shape });
export type EstimateRequest = z.infer<typeof EstimateRequest>;

/** The memory that an installed model would need with these settings. */
export const MemoryEstimate = responseObject("MemoryEstimate", {
  model: z.string(),
  fits: z
    .enum(["yes", "tight", "no"])
    .describe(
      "`tight`: only with a shorter context than the model supports, or after evicting other models.",
    ),
  reason: z.string().describe("Why, in a sentence for people."),
  memory_bytes: z.int().describe("Weights, KV cache and buffers."),
  available_bytes: z.int().nullable().describe("Maximum memory that it may use now; null means no limit."),
  context_length: z.int().describe("Maximum number of tokens per request with these settings."),
  context_length_max: z.int().describe("Maximum number of tokens that would fit."),
  kv_bytes_per_token: z.int(),
  kv_bits_k: KvBits,
  kv_bits_v: KvBits,
});
export type MemoryEstimate = z.infer<typeof MemoryEstimate>;
