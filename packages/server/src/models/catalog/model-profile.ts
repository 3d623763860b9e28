// What is known of one model: from the library, from its file, and from the last time that it was loaded. Kept by
// model-slot.ts.
import type { Model, ModelTraits } from "@ingle/engine";
import type { ModelCapability, ModelEntry } from "@ingle/protocol";
import type { KnownModel, ListedModel } from "./known-model.ts";

export class ModelProfile {
  #known: KnownModel;
  #entry: ModelEntry;
  #aliases: readonly string[] = [];
  #listed: ListedModel | undefined;
  #traits: ModelTraits | undefined;
  #usedAt: Date | undefined;

  constructor(known: KnownModel) {
    this.#known = known;
    this.#entry = entryOfKnown(known);
  }

  get known(): KnownModel {
    return this.#known;
  }

  /** The same model, looked at anew. `isNews`: nothing better is known than what it says. */
  know(known: KnownModel, { isNews }: { isNews: boolean }): void {
    this.#known = known;
    if (isNews) this.#entry = entryOfKnown(known);
  }

  /** The model as the library has it now; undefined where it has none of this id. */
  note(known: KnownModel | undefined): void {
    this.#aliases = known?.aliases ?? [];
    this.#listed = known?.listed;
    this.#traits = known?.listed?.traits ?? this.#traits;
  }

  /** What its file says of it, where somebody has looked. */
  read(traits: ModelTraits | undefined): void {
    this.#traits = traits ?? this.#traits;
  }

  loaded(model: Model, loadedAt: Date): void {
    this.#entry = entryOfLoaded({ id: this.#known.id, model, loadedAt });
    const { architecture, chatTemplate } = model.info;
    const knowsTools = chatTemplate.writesTools || chatTemplate.isLfm2;
    this.#traits ??= { architecture, knowsTools, knowsThinking: false, isEmbedder: false };
  }

  /** Its settings are not those any more that it was loaded with. */
  reset(): void {
    this.#entry = entryOfKnown(this.#known);
  }

  used(at: Date): void {
    this.#usedAt = at;
  }

  /** Without its state: that is the slot's to say. */
  get entry(): ModelEntry {
    return this.#entry;
  }

  /** The user's own names for it, as the library had them last. */
  get aliases(): readonly string[] {
    return this.#aliases;
  }

  /** What the library said of it last. */
  get listed(): ListedModel | undefined {
    return this.#listed;
  }

  /** Null while nobody has read its file. */
  get architecture(): string | null {
    return this.#traits?.architecture ?? null;
  }

  get capabilities(): ModelCapability[] {
    const traits = this.#traits;
    const canDo: Record<ModelCapability, boolean> = {
      vision: this.#entry.input_modalities.includes("image"),
      tools: traits?.knowsTools === true,
      thinking: traits?.knowsThinking === true,
      embeddings: traits?.isEmbedder === true,
    };
    return allCapabilities.filter((each) => canDo[each]);
  }

  /** When a request had it last, here or as the library knows; null where nobody knows of any. */
  get lastUsedAt(): Date | null {
    return this.#usedAt ?? this.#listed?.lastUsedAt ?? null;
  }
}

const allCapabilities: readonly ModelCapability[] = ["vision", "tools", "thinking", "embeddings"];

function entryOfKnown({ id, about }: KnownModel): ModelEntry {
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

function entryOfLoaded(loaded: { id: string; model: Model; loadedAt: Date }): ModelEntry {
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
