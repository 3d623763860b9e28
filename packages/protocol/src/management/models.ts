// The models that a server manages under /api/v1/models: their states, and the requests to load, unload, pin and estimate them.
import { z } from "zod";

import { integerField } from "../fields/bounded-field.ts";
import { flag, optionalField } from "../fields/optional-field.ts";
import { modelField } from "../fields/request-fields.ts";
import { KvBits, kvBitsRule } from "../kv-bits.ts";

/** A model's progress into memory and out of it. */
export const ManagedModelStatus = z
  .enum(["available", "preparing", "loading", "loaded", "draining", "unloading", "failed", "closed"])
  .meta({ id: "ManagedModelStatus" });
export type ManagedModelStatus = z.infer<typeof ManagedModelStatus>;

/**
 * What a model can do besides generating text. `embeddings`: it computes vectors and generates no text. `tools` and `thinking`:
 * its chat template supports them.
 */
export const ModelCapability = z
  .enum(["vision", "tools", "thinking", "embeddings"])
  .meta({ id: "ModelCapability" });
export type ModelCapability = z.infer<typeof ModelCapability>;

/** One model that the server knows. Unknown values are `null`. */
export const ManagedModel = z
  .object({
    id: z.string().meta({ description: "The value for a request's `model`." }),
    aliases: z.array(z.string()).meta({ description: "The names that the user gave it." }),
    status: ManagedModelStatus,
    progress: z
      .number()
      .nullable()
      .meta({ description: "How much is loaded, 0 to 1; null if it is not loading." }),
    pinned: z
      .boolean()
      .meta({ description: "It is neither evicted for other models nor unloaded when idle." }),
    running: z.int().meta({ description: "Requests that use it now." }),
    waiting: z.int().meta({ description: "Requests that wait until it is loaded." }),
    context_length: z.int().nullable().meta({ description: "The most tokens of one request." }),
    quantization: z.string().nullable().meta({ description: "For example Q4_K_M." }),
    format: z.enum(["gguf", "mlx"]).nullable().meta({
      description: "`mlx`: its GGUF file was converted from an MLX build.",
    }),
    architecture: z.string().nullable().meta({ description: "For example lfm2." }),
    capabilities: z.array(ModelCapability).meta({ description: "As far as they are known." }),
    size_bytes: z.int().nullable().meta({ description: "Bytes of the weights." }),
    memory_bytes: z
      .int()
      .nullable()
      .meta({ description: "Memory of its weights, KV cache and buffers; null while it is not in memory." }),
    kv_bytes_per_token: z
      .int()
      .nullable()
      .meta({ description: "Memory of one token in the KV cache; null while there is no KV cache." }),
    kv_bits_k: KvBits.nullable().meta({
      description: "Bits of a key in its KV cache, now or once it is loaded.",
    }),
    kv_bits_v: KvBits.nullable().meta({ description: "The same for values." }),
    loaded_at: z.int().nullable().meta({ description: "Unix seconds." }),
    last_used_at: z.int().nullable().meta({ description: "Unix seconds." }),
    removable: z.boolean().meta({ description: "It is in the library, so `remove` can delete it." }),
    error: z.string().nullable().meta({ description: "Why the last load failed." }),
  })
  .meta({ id: "ManagedModel" });
export type ManagedModel = z.infer<typeof ManagedModel>;

/** The memory of all models together. */
export const ModelMemory = z
  .object({
    used_bytes: z.int(),
    budget_bytes: z
      .int()
      .nullable()
      .meta({ description: "The most memory that they may use; null means no limit." }),
  })
  .meta({ id: "ModelMemory" });
export type ModelMemory = z.infer<typeof ModelMemory>;

/** The response of `GET /api/v1/models`: every known model, loaded or not. */
export const ManagedModelList = z
  .object({ object: z.literal("list"), data: z.array(ManagedModel), memory: ModelMemory })
  .meta({ id: "ManagedModelList" });
export type ManagedModelList = z.infer<typeof ManagedModelList>;

/** The body of `POST /api/v1/models/unload`. With `wait: false`, the response does not wait until it is done. */
export const UnloadRequest = z
  .looseObject({ model: modelField, wait: flag("wait") })
  .meta({ id: "UnloadRequest" });
export type UnloadRequest = z.infer<typeof UnloadRequest>;

/** The shortest context: a chat template alone takes about ten tokens. */
const contextLengthMin = 16;

function kvBits(name: string, description: string) {
  return optionalField(z.literal([...KvBits.values], `${name} ${kvBitsRule}`), { description });
}

/** The body of `POST /api/v1/models/load`. Its settings last until a request unloads the model. */
export const LoadRequest = z
  .looseObject({
    ...UnloadRequest.shape,
    context_length: optionalField(integerField("context_length", { min: contextLengthMin }), {
      description: "The most tokens of one request, prompt and reply.",
    }),
    kv_bits: kvBits("kv_bits", "Bits of a value in the KV cache: fewer take less memory and are less exact."),
    kv_bits_k: kvBits("kv_bits_k", "The same for keys only."),
    kv_bits_v: kvBits("kv_bits_v", "The same for values only."),
  })
  .meta({ id: "LoadRequest" });
export type LoadRequest = z.infer<typeof LoadRequest>;

const pinnedRule = "pinned must be true or false";

/** The body of `POST /api/v1/models/pin`; the response is the model. It lasts until the server ends. */
export const PinRequest = z
  .looseObject({ model: modelField, pinned: z.boolean(pinnedRule) })
  .meta({ id: "PinRequest" });
export type PinRequest = z.infer<typeof PinRequest>;

/** The body of `POST /api/v1/models/estimate`: that of a load request. Nothing is loaded. */
export const EstimateRequest = z.looseObject({ ...LoadRequest.shape }).meta({ id: "EstimateRequest" });
export type EstimateRequest = z.infer<typeof EstimateRequest>;

/** The memory that an installed model would need with these settings. */
export const MemoryEstimate = z
  .object({
    model: z.string(),
    fits: z.enum(["yes", "tight", "no"]).meta({
      description:
        "`tight`: only with a shorter context than the model supports, or after evicting other models.",
    }),
    reason: z.string().meta({ description: "Why, in a sentence for people." }),
    memory_bytes: z.int().meta({ description: "Weights, KV cache and buffers." }),
    available_bytes: z
      .int()
      .nullable()
      .meta({ description: "The most memory that it may use now; null means no limit." }),
    context_length: z.int().meta({ description: "The most tokens of one request with these settings." }),
    context_length_max: z.int().meta({ description: "The most tokens that would fit." }),
    kv_bytes_per_token: z.int(),
    kv_bits_k: KvBits,
    kv_bits_v: KvBits,
  })
  .meta({ id: "MemoryEstimate" });
export type MemoryEstimate = z.infer<typeof MemoryEstimate>;
