// Converts the registry's models to Ollama's form.
import { hostMemory, sumBytes } from "@ingle/engine";
import type { OllamaDetails, OllamaModelInfo, OllamaModels, OllamaRunningModels } from "@ingle/protocol";
import type { ModelSlot } from "../../models/slot/model-slot.ts";
import { toParameterSize } from "../../models/catalog/model-profile.ts";
import { modelDigest } from "./conventions.ts";

/** Means "never": clients show a time that is more than twenty years away as forever. */
const yearsOfNever = 100;

export function toOllamaModel(slot: ModelSlot): OllamaModels["models"][number] {
  return {
    ...commonFields(slot),
    modified_at: modifiedAt(slot),
    capabilities: toCapabilities(slot),
  };
}

export function toRunningModel(slot: ModelSlot, now: Date): OllamaRunningModels["models"][number] {
  const { byMemory, entry, idle, isPinned } = slot;
  const never = new Date(now);
  never.setUTCFullYear(now.getUTCFullYear() + yearsOfNever);
  const common = commonFields(slot);
  return {
    ...common,
    size: sumBytes(byMemory) > 0 ? sumBytes(byMemory) : common.size,
    expires_at: ((isPinned ? null : idle.endsAt) ?? never).toISOString(),
    size_vram: sumBytes(byMemory) - (byMemory[hostMemory] ?? 0),
    context_length: entry.context_length ?? 0,
  };
}

/** The text fields are empty: models have no Modelfile here, and their templates stay in their files. */
export function toModelInfo(slot: ModelSlot): OllamaModelInfo {
  const { entry } = slot;
  const { architecture } = slot.profile;
  const contextLength = entry.context_length ?? entry.context_length_train;
  const known = {
    "general.architecture": architecture,
    "general.parameter_count": entry.n_params,
    ...(architecture === null ? {} : { [`${architecture}.context_length`]: contextLength }),
  };
  return {
    license: "",
    modelfile: "",
    parameters: "",
    template: "",
    system: "",
    details: toDetails(slot),
    model_info: Object.fromEntries(Object.entries(known).filter(([, value]) => value !== null)),
    capabilities: toCapabilities(slot),
    modified_at: modifiedAt(slot),
  };
}

function commonFields(slot: ModelSlot) {
  const { id, entry, known } = slot;
  // The size of the file, because the entry of a loaded model has the size of its weights.
  const size = known.about?.size_bytes ?? entry.size_bytes ?? 0;
  return { name: id, model: id, size, digest: modelDigest(slot), details: toDetails(slot) };
}

/** The time of the file, because the entry of a loaded model has the time of its load. */
function modifiedAt({ entry, known }: ModelSlot): string {
  return new Date((known.about?.created ?? entry.created) * 1000).toISOString();
}

function toDetails({ entry, profile }: ModelSlot): OllamaDetails {
  const { architecture, listed } = profile;
  return {
    parent_model: "",
    format: listed?.format ?? "gguf",
    family: architecture ?? "",
    families: architecture === null ? [] : [architecture],
    parameter_size: entry.n_params === null ? "" : toParameterSize(entry.n_params),
    quantization_level: entry.quantization ?? "",
    ...(entry.context_length === null ? {} : { context_length: entry.context_length }),
  };
}

/** `completion` is the capability of every model that is not an embedding model. */
function toCapabilities({ entry: { capabilities } }: ModelSlot): string[] {
  if (capabilities.includes("embeddings")) return ["embedding"];
  return ["completion", ...capabilities];
}
