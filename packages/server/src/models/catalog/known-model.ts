// The interface to the registry of models that it may load, and of sources of models.
import type { LoadedModel, MemoryBudget, MemoryBytes, MemoryForecast, ModelTraits } from "@ingle/engine";
import type { ManagedModel, ModelEntry, ReplyDefaults } from "@ingle/protocol";
import type { LoadSettings } from "../slot/load-settings.ts";

/** Reads the weights; `onProgress` takes 0 … 1. */
export type ModelLoader = (
  onProgress: (fraction: number) => void,
  signal: AbortSignal,
) => Promise<LoadedModel>;

/** A model that fits into the memory budget if it is the only one. */
export interface PreparedModel {
  /** The memory that it will take, as far as known. */
  byMemory: MemoryBytes;
  /** Facts from its file. */
  traits?: ModelTraits | undefined;
  load: ModelLoader;
}

/** A model's entry in the library. */
export interface ListedModel {
  format: ManagedModel["format"];
  /** The checksum of its file, or of the first part; null if the library does not have it. */
  sha256: string | null;
  lastUsedAt: Date | null;
  isRemovable: boolean;
  /** Whether its files were imported where they are, so that removing it keeps them. */
  isImported: boolean;
  /** Absent until its file has been read. */
  traits?: ModelTraits | undefined;
}

export interface PrepareOptions {
  budget?: MemoryBudget | undefined;
  /** The part of the budget that the loaded models leave. Absent: no other models have to be spared. */
  left?: MemoryBudget | undefined;
  settings?: LoadSettings | undefined;
  signal: AbortSignal;
}

export interface KnownModel {
  /** Its name in requests and responses. */
  readonly id: string;
  /** Other names for it, such as the path that the server was started with. */
  readonly aliases?: readonly string[];
  /** What is known before it is loaded. */
  readonly about?: Partial<Pick<ModelEntry, "created" | "size_bytes" | "quantization" | "context_length">> & {
    /** What the projector reads that it is loaded with. */
    readsImages?: boolean;
    readsAudio?: boolean;
  };
  /** Names of the adapters that it is loaded with. Default: none. */
  readonly adapters?: readonly string[];
  /** Absent: the model is in no library. */
  readonly listed?: ListedModel;
  /** How it is loaded unless a request specifies otherwise. Absent: requests cannot specify anything. */
  readonly settings?: LoadSettings | undefined;
  /** Defaults of its requests, and those of its profiles by name. Absent: none. */
  readonly replies?: {
    readonly defaults: ReplyDefaults;
    readonly profiles: Readonly<Record<string, ReplyDefaults>>;
  };
  /**
   * Does everything except loading: downloads the file if needed, and finds settings, including the requested ones, with which
   * the model fits into the remaining budget if it gets no less than usual there, or else into the whole budget. Called before
   * every load. Throws `out_of_memory` with settings that would fit, and any other reason that prevents a load.
   */
  prepare(options: PrepareOptions): Promise<PreparedModel>;
  /** Predicts the memory that a load would take, without downloading or loading. Absent: it cannot be predicted. */
  forecast?(options: PrepareOptions): Promise<MemoryForecast>;
}

export interface ModelSource {
  /** Lists the models that could be loaded now. Called often: it should take milliseconds. */
  known(): Promise<readonly KnownModel[]>;
}
