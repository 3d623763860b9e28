// A loaded model as `GET /v1/models` shows it. Used by registry.ts.
import type { Model } from "@ingle/engine";
import type { ModelEntry } from "@ingle/protocol";

export function toModelEntry(loaded: { id: string; model: Model; loadedAt: Date }): ModelEntry {
  const { info } = loaded.model;
  return {
    id: loaded.id,
    object: "model",
    created: Math.floor(loaded.loadedAt.getTime() / 1000),
    owned_by: "local",
    context_length: info.contextLength,
    max_model_len: info.contextLength,
    input_modalities: ["text"],
    quantization: info.quantization,
    size_bytes: info.sizeBytes,
    n_params: info.parameters,
    status: "loaded",
  };
}
