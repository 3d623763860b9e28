// Converts the registry's models to LM Studio's form.
import type { LmStudioListedModel, LmStudioLoadConfig, LmStudioModel } from "@ingle/protocol";
import type { ModelSlot } from "../../models/slot/model-slot.ts";
import { toParameterSize } from "../../models/catalog/model-profile.ts";

/** The entry in `GET /api/v0/models`. */
export function toLmStudioModel(slot: ModelSlot): LmStudioModel {
  const { id, entry } = slot;
  const { architecture, capabilities, listed } = slot.profile;
  const isLoaded = entry.status === "loaded";
  return {
    id,
    object: "model",
    type: capabilities.includes("embeddings")
      ? "embeddings"
      : capabilities.includes("vision")
        ? "vlm"
        : "llm",
    publisher: toPublisher(id),
    arch: architecture ?? "",
    compatibility_type: listed?.format ?? "gguf",
    quantization: entry.quantization ?? "",
    state: isLoaded ? "loaded" : entry.status === "loading" ? "loading" : "not-loaded",
    max_context_length: maxContextLength(slot),
    ...(isLoaded && entry.context_length !== null ? { loaded_context_length: entry.context_length } : {}),
    capabilities: capabilities.includes("tools") ? ["tool_use"] : [],
  };
}

/** The entry in `GET /api/v1/models`. A loaded model has one instance, with the model's id. */
export function toListedModel(slot: ModelSlot): LmStudioListedModel {
  const { id, entry } = slot;
  const { architecture, capabilities, listed } = slot.profile;
  const type = modelType(slot);
  const { quantization, n_params: parameters, status } = entry;
  return {
    type,
    publisher: toPublisher(id),
    key: id,
    display_name: id.slice(id.indexOf("/") + 1),
    ...(type === "embedding" ? {} : { architecture }),
    quantization:
      quantization === null ? null : { name: quantization, bits_per_weight: bitsPerWeight(quantization) },
    size_bytes: entry.size_bytes ?? 0,
    params_string: parameters === null ? null : toParameterSize(parameters),
    loaded_instances: status === "loaded" ? [{ id, config: toLoadConfig(slot) }] : [],
    max_context_length: maxContextLength(slot),
    format: listed?.format ?? "gguf",
    ...(type === "embedding"
      ? {}
      : {
          capabilities: {
            vision: capabilities.includes("vision"),
            trained_for_tool_use: capabilities.includes("tools"),
          },
          description: null,
        }),
  };
}

export function modelType({ profile }: ModelSlot): "llm" | "embedding" {
  return profile.capabilities.includes("embeddings") ? "embedding" : "llm";
}

/** The settings with which a model was loaded. Settings that were not given are the engine's choice. */
export function toLoadConfig(slot: ModelSlot): LmStudioLoadConfig {
  const { entry, info, settings } = slot;
  const { batchTokens, flashAttention, kvOffload } = settings.devices ?? {};
  return {
    context_length: entry.context_length ?? 0,
    ...(modelType(slot) === "embedding" || info === undefined ? {} : { parallel: info.parallel }),
    ...(batchTokens === undefined ? {} : { eval_batch_size: batchTokens }),
    ...(flashAttention === undefined || flashAttention === "auto"
      ? {}
      : { flash_attention: flashAttention === "on" }),
    ...(kvOffload === undefined ? {} : { offload_kv_cache_to_gpu: kvOffload }),
  };
}

/** The first number of the name: 4 for `Q4_K_M`, 16 for `BF16`. */
function bitsPerWeight(quantization: string): number | null {
  const [digits] = /\d+/.exec(quantization) ?? [];
  return digits === undefined ? null : Number(digits);
}

function toPublisher(id: string): string {
  const end = id.indexOf("/");
  return end > 0 ? id.slice(0, end) : "local";
}

/** 0 while unknown. */
function maxContextLength({ entry }: ModelSlot): number {
  return entry.context_length_train ?? entry.context_length ?? 0;
}
