// Everything known about one model: from the library, from its file, and from its last load.
import type { Model, ModelTraits, ProjectorTraits, RecommendedSampling, TemplateTraits } from "@ingle/engine";
import type { ModelCapability, ModelEntry } from "@ingle/protocol";
import type { KnownModel, ListedModel } from "./known-model.ts";
import { toUnixSeconds } from "../../seconds.ts";

/** A model's entry without the facts from its file. */
type EntryOfLoad = Omit<ModelEntry, "capabilities" | "context_length_train">;

export class ModelProfile {
  #known: KnownModel;
  #entry: EntryOfLoad;
  #aliases: readonly string[] = [];
  #listed: ListedModel | undefined;
  /** Facts from its file. */
  #traits: ModelTraits | undefined;
  /** Facts from its last load, for a model whose file was not read. */
  #ofLoad: Pick<ModelTraits, "architecture" | "knowsTools" | "sampling"> | undefined;
  /** Of the chat template that it is loaded with, which may not be its file's. */
  #template: TemplateTraits | undefined;
  #lastUse: Date | undefined;

  constructor(known: KnownModel) {
    this.#known = known;
    this.#entry = entryOfKnown(known);
  }

  get known(): KnownModel {
    return this.#known;
  }

  /** Replaces what is known. The entry of a loaded model is more accurate than the catalog's. */
  update(known: KnownModel, { isNeverLoaded }: { isNeverLoaded: boolean }): void {
    this.#known = known;
    if (isNeverLoaded) this.#entry = entryOfKnown(known);
  }

  /** Sets the library's data about the model; undefined if the library does not have it. */
  setListed(known: KnownModel | undefined): void {
    this.#aliases = known?.aliases ?? [];
    this.#listed = known?.listed;
    this.#traits = known?.listed?.traits ?? this.#traits;
  }

  /** Sets the facts from the model's file, if it was read. */
  learnTraits(traits: ModelTraits | undefined): void {
    this.#traits = traits ?? this.#traits;
  }

  loaded(model: Model, loadedAt: Date): void {
    this.#entry = entryOfLoaded({ id: this.#known.id, model, loadedAt });
    const { architecture, chatTemplate, sampling, templateTraits } = model.info;
    this.#template = templateTraits;
    this.#ofLoad = { architecture, sampling, knowsTools: chatTemplate.writesTools || chatTemplate.isLfm2 };
  }

  /** Forgets the facts from the last load: the next one may have other settings. */
  reset(): void {
    this.#template = undefined;
    this.#entry = entryOfKnown(this.#known);
  }

  used(at: Date): void {
    this.#lastUse = at;
  }

  /** The slot adds the status. */
  get entry(): ModelEntry {
    const { capabilities, contextLengthTrain } = this;
    return { ...this.#entry, context_length_train: contextLengthTrain, capabilities };
  }

  /** The user's aliases in the library. */
  get aliases(): readonly string[] {
    return this.#aliases;
  }

  /** Its entry in the library. */
  get listed(): ListedModel | undefined {
    return this.#listed;
  }

  /** Null until its file is read. */
  get architecture(): string | null {
    return (this.#traits ?? this.#ofLoad)?.architecture ?? null;
  }

  get capabilities(): ModelCapability[] {
    const { input_modalities: inputs } = this.#entry;
    return modelCapabilities(this.#present, {
      readsImages: inputs.includes("image"),
      readsAudio: inputs.includes("audio"),
    });
  }

  /** The facts that hold now. An embedder's template is never used. */
  get #present(): Partial<ModelTraits> | undefined {
    const traits = this.#traits ?? this.#ofLoad;
    return traits === undefined || this.#traits?.isEmbedder === true
      ? traits
      : { ...traits, ...this.#template };
  }

  /** What its makers recommend; empty until its file is read. */
  get sampling(): RecommendedSampling {
    return (this.#traits ?? this.#ofLoad)?.sampling ?? {};
  }

  /** Null until its file is read. */
  get contextLengthTrain(): number | null {
    return this.#traits?.contextLengthTrain ?? null;
  }

  /** Whether its chat template shows that it cannot think; false for a file that was not read. */
  get cannotThink(): boolean {
    return this.#present?.knowsThinking === false;
  }

  /** When it was last used by this server or another program with the same library; null if never. */
  get lastUsedAt(): Date | null {
    return this.#lastUse ?? this.#listed?.lastUsedAt ?? null;
  }
}

function entryOfKnown({ id, about }: KnownModel): EntryOfLoad {
  const contextLength = about?.context_length ?? null;
  return {
    id,
    object: "model",
    created: about?.created ?? 0,
    owned_by: "local",
    context_length: contextLength,
    max_model_len: contextLength,
    input_modalities: modalities(about ?? {}),
    quantization: about?.quantization ?? null,
    size_bytes: about?.size_bytes ?? null,
    n_params: null,
    status: "available",
  };
}

function entryOfLoaded(loaded: { id: string; model: Model; loadedAt: Date }): EntryOfLoad {
  const { info } = loaded.model;
  return {
    id: loaded.id,
    object: "model",
    created: toUnixSeconds(loaded.loadedAt),
    owned_by: "local",
    context_length: info.contextLength,
    max_model_len: info.contextLength,
    input_modalities: modalities(info),
    quantization: info.quantization,
    size_bytes: info.sizeBytes,
    n_params: info.parameters,
    status: "loaded",
  };
}

function modalities({
  readsImages = false,
  readsAudio = false,
}: Partial<ProjectorTraits>): ModelEntry["input_modalities"] {
  return ["text", ...(readsImages ? (["image"] as const) : []), ...(readsAudio ? (["audio"] as const) : [])];
}

/**
 * What a model can do besides generating text: the same rule for every list of models. `traits`: facts from its file, if it has been read. The others: what the projector reads that it is
 * loaded with.
 */
export function modelCapabilities(
  traits: Partial<ModelTraits> | undefined,
  { readsImages, readsAudio }: ProjectorTraits,
): ModelCapability[] {
  const canDo: Record<ModelCapability, boolean> = {
    vision: readsImages,
    audio: readsAudio,
    tools: traits?.knowsTools === true,
    thinking: traits?.knowsThinking === true,
    embeddings: traits?.isEmbedder === true,
  };
  return inOrder.filter((each) => canDo[each]);
}

const inOrder: readonly ModelCapability[] = ["vision", "audio", "tools", "thinking", "embeddings"];

/** The number of a model's parameters, such as `1.2B`, `270.50M` or `64K`. */
export function toParameterSize(count: number): string {
  if (count >= 1e9) return `${(count / 1e9).toFixed(1)}B`;
  return count >= 1e6 ? `${(count / 1e6).toFixed(2)}M` : `${Math.round(count / 1e3)}K`;
}
