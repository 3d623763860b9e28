// What a server runs on, and what a model would take of it: GET /api/v1/machine and POST /api/v1/models/estimate.
import { z } from "zod";
import { LoadRequest } from "./control.ts";
import { KvBits } from "./kv-bits.ts";

export const MachineDevice = z
  .object({
    name: z.string().meta({ description: "Such as CUDA0 or CPU." }),
    description: z.string().meta({ description: "Such as the processor's or the card's name." }),
    kind: z.enum(["cpu", "gpu", "integrated_gpu", "accelerator"]),
    memory_bytes: z.int(),
    free_bytes: z.int(),
  })
  .meta({ id: "MachineDevice" });
export type MachineDevice = z.infer<typeof MachineDevice>;

/** The answer of `GET /api/v1/machine`. */
export const Machine = z
  .object({
    platform: z.string().meta({ description: "Such as linux x64." }),
    processor: z.string(),
    cores: z.int().meta({ description: "That this process may use." }),
    memory_bytes: z.int(),
    available_bytes: z.int().meta({ description: "Memory that could be taken now." }),
    library_path: z.string().meta({ description: "The folder of the models." }),
    disk_free_bytes: z.int().nullable().meta({ description: "Free where the models lie." }),
    devices: z.array(MachineDevice),
    version: z.string().meta({ description: "Ingle's." }),
    llama_cpp: z.string().meta({ description: "The release that was compiled." }),
  })
  .meta({ id: "Machine" });
export type Machine = z.infer<typeof Machine>;

/** The body of `POST /api/v1/models/estimate`: a model as `load` would be told of it. Nothing is loaded. */
export const EstimateRequest = z.looseObject({ ...LoadRequest.shape }).meta({ id: "EstimateRequest" });
export type EstimateRequest = z.infer<typeof EstimateRequest>;

/** What loading an installed model with these settings would take. */
export const MemoryEstimate = z
  .object({
    model: z.string(),
    fits: z.enum(["yes", "tight", "no"]).meta({
      description: "`tight`: only with a smaller context than the model has, or when others are freed.",
    }),
    reason: z.string().meta({ description: "Why, in a sentence for people." }),
    memory_bytes: z.int().meta({ description: "Weights, KV cache and buffers." }),
    available_bytes: z.int().nullable().meta({ description: "What it may take now; null is not bounded." }),
    context_length: z.int().meta({ description: "Tokens of one request with these settings." }),
    context_length_max: z.int().meta({ description: "Most tokens that would fit." }),
    kv_bytes_per_token: z.int(),
    kv_bits_k: KvBits,
    kv_bits_v: KvBits,
  })
  .meta({ id: "MemoryEstimate" });
export type MemoryEstimate = z.infer<typeof MemoryEstimate>;
