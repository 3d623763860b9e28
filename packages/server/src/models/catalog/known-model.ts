// What the registry asks of a model that it may be told to load, and of whoever knows models. Made by the command line
// and by sources such as model-folder.ts.
import type { LoadedModel, MemoryBudget, MemoryBytes, MemoryForecast, ModelTraits } from "@ingle/engine";
import type { ManagedModel, ModelEntry } from "@ingle/protocol";
import type { LoadSettings } from "../slot/load-settings.ts";

/** Reads the weights; `onProgress` takes 0 … 1. */
export type ModelLoader = (
  onProgress: (fraction: number) => void,
  signal: AbortSignal,
) => Promise<LoadedModel>;

/** A model that fits into memory by itself. */
export interface PreparedModel {
  /** What it will take, as far as that is known. */
  byMemory: MemoryBytes;
  /** What its file says of it. */
  traits?: ModelTraits | undefined;
  load: ModelLoader;
}

/** What the library says of a model that is in it. */
export interface ListedModel {
  format: ManagedModel["format"];
  lastUsedAt: Date | null;
  isRemovable: boolean;
  /** Absent while nobody has read its file. */
  traits?: ModelTraits | undefined;
}

export interface PrepareOptions {
  budget?: MemoryBudget | undefined;
  settings?: LoadSettings | undefined;
  signal: AbortSignal;
}

export interface KnownModel {
  /** Its name in requests and answers. */
  readonly id: string;
  /** Other names for it, such as the path that the server was started with. */
  readonly aliases?: readonly string[];
  /** What is known of it before it is loaded. */
  readonly about?: Partial<Pick<ModelEntry, "created" | "size_bytes" | "quantization" | "context_length">> & {
    /** It is loaded with a projector. */
    readsImages?: boolean;
  };
  /** Absent: it is in no library. */
  readonly listed?: ListedModel;
  /** How it is loaded where an order does not say it. Absent: no order can. */
  readonly settings?: LoadSettings;
  /**
   * Gets everything but memory: the file, and settings with which the model fits into the budget (absent: into any), and
   * among them those that an order has said. Called again before every load. Throws `out_of_memory` with what would fit, and
   * whatever keeps it from being loaded.
   */
  prepare(options: PrepareOptions): Promise<PreparedModel>;
  /** What prepare() and a load would come to; nothing is fetched or loaded. Absent: nobody can tell. */
  forecast?(options: PrepareOptions): Promise<MemoryForecast>;
}

export interface ModelSource {
  /** What could be loaded now. Asked often: it should take milliseconds. */
  known(): Promise<readonly KnownModel[]>;
}
