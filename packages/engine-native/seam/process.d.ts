// This process at the seam to TypeScript: what was compiled into it, its errors, its log and its rights.

export type NativeErrorCode =
  | "invalid_argument"
  | "model_not_found"
  | "model_invalid"
  | "model_unsupported"
  | "out_of_memory"
  | "aborted"
  | "template_failed"
  | "context_length_exceeded"
  | "overloaded"
  | "generation_not_supported"
  | "image_not_supported"
  | "audio_not_supported"
  | "audio_invalid"
  | "projector_mismatch"
  | "embeddings_not_supported"
  | "engine_failed"
  /** Only for an engine in its own process: the process has ended. */
  | "engine_crashed"
  | "worker_lost"
  | "disposed";

/** What was compiled into the addon, and what this machine offers. */
export interface BuildInfo {
  version: string;
  /** `sources` identifies what was compiled, including patches and added files, which the commit does not cover. */
  llamaCpp: { version: string; commit: string; sources: string };
  /** The GPU backend chosen at build time; "cpu" for none. */
  gpu: "cpu" | "cuda" | "metal" | "vulkan";
  /** The processor chosen at build time: "native", "all", or a level of x86-64. */
  cpu: string;
  compiler: string;
  buildType: string;
  devices: DeviceInfo[];
  /** Instruction sets that ggml's CPU backend was compiled for: AVX2, AVX512, NEON, … */
  cpuFeatures: string[];
  /**
   * Physical cores of this machine, without those that save energy; 0 if that is unknown, and on Linux, where files tell it.
   */
  performanceCores: number;
  /** Names of the ggml types that a KV cache can have: f16, q8_0, q4_0, … */
  kvTypes: string[];
}

export interface DeviceInfo {
  name: string;
  description: string;
  backend: string;
  type: "cpu" | "gpu" | "igpu" | "accel";
  memoryFree: number;
  memoryTotal: number;
}

export function buildInfo(): BuildInfo;
/** Sends llama.cpp's log lines to `sink`; null, the default, drops them. Level: 1 debug … 4 error. */
export function setLogSink(sink: ((level: number, text: string) => void) | null): void;
/** Makes the process return freed memory to the system early. Only for processes that run nothing but Ingle. */
export function keepMemoryTight(): void;
/** From now on, a lost GPU ends the process: only a new one gets the device back. For a process that is started again. */
export function endWhenDeviceIsLost(): void;
/**
 * Permanently drops rights of this process that an engine does not need once its model is loaded: starting programs, using the
 * network, signalling or inspecting other processes, mounting, and most files. Only the folder of `stateFile`, and `slotDir`, if
 * they are not empty, and caches of GPU drivers can then be written. Returns what was restricted, in words for a log: nothing on
 * systems other than Linux.
 */
export function confineProcess(stateFile: string, slotDir: string): string[];
