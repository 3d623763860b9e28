// What to load, at the seam to TypeScript: a model's file, its parts, and where they go.
import type { NativeWorker } from "./workers.d.ts";

export interface NativeLoadOptions {
  /** A GGUF file; for a split model, its first part. */
  path: string;
  /** Layers to put on the GPU; a negative number means all. */
  gpuLayers: number;
  mmap: boolean;
  mlock: boolean;
  /** Whether to load layers for multi-token prediction, if the file has any. */
  mtp: boolean;
  /** The projector for image and audio input, whose header was checked; null for none. */
  projector: NativeProjector | null;
  /** Machines that hold layers; they come before this machine's GPUs, and stay connected until the model is disposed. */
  workers: NativeWorker[];
  /** Null for the defaults. */
  placement: NativePlacement | null;
  /** Adapters that requests may use. Not read by `measureModel`. */
  adapters: NativeAdapter[];
  /** In place of the file's chat template; "" for that. `invalid_argument` if it is too long or cannot be read. */
  chatTemplate: string;
}

export interface NativeAdapter {
  /** A GGUF file whose header was checked. */
  path: string;
  /** Equal contents, used in the same layers, have the same, others another. */
  identity: string;
  /** Of a control vector: what is added in each layer from the second on, one after another. Empty for a LoRA adapter. */
  directions: number[];
}

/** Where a model's tensors go, and how its file is read. Options without an effect on this machine are `invalid_argument`. */
export interface NativePlacement {
  /** Names as in `buildInfo()`; empty for all GPUs, `["none"]` for none. */
  devices: string[];
  /** The experts of this many layers, counted from the first, stay in host memory. */
  cpuMoeLayers: number;
  /** Tensors whose names match the pattern go to the device, or to "CPU"; the first match counts. */
  tensorOverrides: { pattern: string; device: string }[];
  splitMode: "layer" | "row" | "none";
  /** Each device's share; empty to divide by free memory. */
  tensorSplit: number[];
  /** With `splitMode: "none"`, the device that holds the model; -1 if none was requested. */
  mainGpu: number;
  /** "distribute", "isolate" or "numactl" for the whole process; empty for none. */
  numa: string;
  checkTensors: boolean;
  /** Values of the file's header to replace. */
  kvOverrides: { key: string; type: "int" | "float" | "bool" | "str"; value: string }[];
}

export interface NativeProjector {
  path: string;
  /** Threads that encode images and audio, unless a GPU does. */
  threads: number;
  /** Minimum and maximum number of tokens per image, for projectors with a variable number; 0 uses the file's values. */
  imageMinTokens: number;
  imageMaxTokens: number;
  /** The longest audio that it encodes; 0 for all that a prompt may have. */
  audioSecondsMax: number;
}
