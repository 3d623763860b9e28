// A model as `GET /v1/models` shows it, before it is loaded and from then on. Used by model-slot.ts.
import type { Model } from "@ingle/engine";
import type { ModelEntry } from "@ingle/protocol";
import type { KnownModel } from "./known-model.ts";

export function entryOfKnown({ id, about }: KnownModel): ModelEntry {
  const contextLength = about?.context_length ?? null;
  return {
    id,
    object: "model",
    created: about?.created ?? 0,
    owned_by: "local",
    context_length: contextLength,
    max_model_len: contextLength,
    input_modalities: modalities(about?.readsImages ?? false),
    quantization: about?.quantization ?? null,
    size_bytes: about?.size_bytes ?? null,
    n_params: null,
    status: "available",
  };
}

export function entryOfLoaded(loaded: { id: string; model: Model; loadedAt: Date }): ModelEntry {
  const { info } = loaded.model;
  return {
    id: loaded.id,
    object: "model",
    created: Math.floor(loaded.loadedAt.getTime() / 1000),
    owned_by: "local",
    context_length: info.contextLength,
    max_model_len: info.contextLength,
    input_modalities: modalities(info.readsImages),
    quantization: info.quantization,
    size_bytes: info.sizeBytes,
    n_params: info.parameters,
    status: "loaded",
  };
}

function modalities(readsImages: boolean): ModelEntry["input_modalities"] {
  return readsImages ? ["text", "image"] : ["text"];
}
