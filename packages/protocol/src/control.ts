// The management of a running server under /api/v1: which models are where, and the orders to load and unload them.
import { z } from "zod";

import { optionalField } from "./absent.ts";
import { KvBits, kvBitsRule } from "./kv-bits.ts";
import { flag, modelField } from "./request-fields.ts";

/** Where a model is on its way into memory and out of it. */
export const ManagedModelStatus = z
  .enum(["available", "preparing", "loading", "loaded", "draining", "unloading", "failed", "closed"])
  .meta({ id: "ManagedModelStatus" });
export type ManagedModelStatus = z.infer<typeof ManagedModelStatus>;

/**
 * What a model can do beside answering texts. `embeddings`: it is made for vectors, and answers nothing. `tools` and
 * `thinking` are those that its chat template knows.
 */
export const ModelCapability = z
  .enum(["vision", "tools", "thinking", "embeddings"])
  .meta({ id: "ModelCapability" });
export type ModelCapability = z.infer<typeof ModelCapability>;

/** One model that the server knows. What is not known is `null`. */
export const ManagedModel = z
  .object({
    id: z.string().meta({ description: "The value for a request's `model`." }),
    aliases: z.array(z.string()).meta({ description: "The user's own names for it." }),
    status: ManagedModelStatus,
    progress: z.number().nullable().meta({ description: "While it is loading: 0 to 1." }),
    pinned: z.boolean().meta({ description: "It is not freed for others, nor because nobody uses it." }),
    running: z.int().meta({ description: "Requests that hold it now." }),
    waiting: z.int().meta({ description: "Requests that wait until it is loaded." }),
    context_length: z.int().nullable().meta({ description: "Tokens that one request may hold." }),
    quantization: z.string().nullable().meta({ description: "Such as Q4_K_M." }),
    format: z.enum(["gguf", "mlx"]).nullable().meta({
      description: "`mlx`: its GGUF file was made of a build for MLX.",
    }),
    architecture: z.string().nullable().meta({ description: "Such as lfm2." }),
    capabilities: z.array(ModelCapability).meta({ description: "As far as they are known." }),
    size_bytes: z.int().nullable().meta({ description: "Bytes of the weights." }),
    memory_bytes: z
      .int()
      .nullable()
      .meta({ description: "Memory that it takes: weights, cache and buffers; null while it takes none." }),
    kv_bytes_per_token: z
      .int()
      .nullable()
      .meta({ description: "Memory that a token takes of the KV cache; null while there is none." }),
    kv_bits_k: KvBits.nullable().meta({
      description: "Bits in which its KV cache stores keys, or will when it is loaded.",
    }),
    kv_bits_v: KvBits.nullable().meta({ description: "The same for values." }),
    loaded_at: z.int().nullable().meta({ description: "Unix seconds." }),
    last_used_at: z.int().nullable().meta({ description: "Unix seconds." }),
    removable: z.boolean().meta({ description: "It is in the library, and `remove` takes it out." }),
    error: z.string().nullable().meta({ description: "Why the last load failed." }),
  })
  .meta({ id: "ManagedModel" });
export type ManagedModel = z.infer<typeof ManagedModel>;

/** Memory of all models together. */
export const ModelMemory = z
  .object({
    used_bytes: z.int(),
    budget_bytes: z.int().nullable().meta({ description: "What they may take; null is not bounded." }),
  })
  .meta({ id: "ModelMemory" });
export type ModelMemory = z.infer<typeof ModelMemory>;

/** The answer of `GET /api/v1/models`: every model that is known, loaded or not. */
export const ManagedModelList = z
  .object({ object: z.literal("list"), data: z.array(ManagedModel), memory: ModelMemory })
  .meta({ id: "ManagedModelList" });
export type ManagedModelList = z.infer<typeof ManagedModelList>;

/** The body of `POST /api/v1/models/unload`. With `wait: false` the answer comes before it is done. */
export const UnloadRequest = z
  .looseObject({ model: modelField, wait: flag("wait") })
  .meta({ id: "UnloadRequest" });
export type UnloadRequest = z.infer<typeof UnloadRequest>;

/** Fewest tokens of a context: a chat template alone takes some ten. */
const contextLengthMin = 16;
const contextLengthRule = `context_length must be an integer of at least ${contextLengthMin}`;

function kvBits(name: string, description: string) {
  return optionalField(z.literal([...KvBits.values], `${name} ${kvBitsRule}`), { description });
}

/** The body of `POST /api/v1/models/load`. What it says of the model holds until an order to unload it. */
export const LoadRequest = z
  .looseObject({
    ...UnloadRequest.shape,
    context_length: optionalField(z.int(contextLengthRule).min(contextLengthMin, contextLengthRule), {
      description: "Most tokens of one request, prompt and reply.",
    }),
    kv_bits: kvBits("kv_bits", "Bits in which a value of the KV cache is stored: fewer take less memory."),
    kv_bits_k: kvBits("kv_bits_k", "The same for keys alone."),
    kv_bits_v: kvBits("kv_bits_v", "The same for values alone."),
  })
  .meta({ id: "LoadRequest" });
export type LoadRequest = z.infer<typeof LoadRequest>;

const pinnedRule = "pinned must be true or false";

/** The body of `POST /api/v1/models/pin`; the answer is the model. It holds until the server ends. */
export const PinRequest = z
  .looseObject({ model: modelField, pinned: z.boolean(pinnedRule) })
  .meta({ id: "PinRequest" });
export type PinRequest = z.infer<typeof PinRequest>;

/** The answer of `GET /api/v1/state`. */
export const ServerState = z
  .object({
    status: z.enum(["ok", "idle", "empty", "loading", "failed", "shutting_down"]),
    version: z.string(),
    variant: z.string(),
    started_at: z.int().meta({ description: "Unix seconds." }),
    running: z.int().meta({ description: "Requests that are computed now." }),
    waiting: z.int().meta({ description: "Requests in line, or waiting for a model to be loaded." }),
    loaded: z.array(z.string()).meta({ description: "Ids of the models in memory." }),
    memory: ModelMemory,
  })
  .meta({ id: "ServerState" });
export type ServerState = z.infer<typeof ServerState>;
