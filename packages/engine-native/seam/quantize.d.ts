// Work on model files at the seam to TypeScript. Call it in a separate process: it takes minutes, cannot be stopped, and damaged
// files can crash it.
import type { NativeLoadOptions } from "./load.d.ts";

export interface NativeQuantizeOptions {
  /** A GGUF file; for a split model, its first part. */
  input: string;
  /** Path of the file to write; overwritten if it exists. */
  output: string;
  /** The target quantization as llama.cpp's number (`general.file_type`). */
  fileType: number;
  threads: number;
  allowRequantize: boolean;
  /** Path of an importance matrix; "" for none. */
  imatrix: string;
}

/** Bytes of all tensors that would be written, to a hundredth of a MiB. */
export function planQuantization(options: NativeQuantizeOptions): Promise<number>;
/** Quantizes a file. Calls `onTensor` with each tensor's name before it is quantized. */
export function quantizeModel(
  options: NativeQuantizeOptions,
  onTensor: (name: string) => void,
): Promise<void>;

/** Options for computing an importance matrix: see src/llama/quantize/imatrix.h. */
export interface NativeImatrixOptions {
  model: NativeLoadOptions;
  /** Path of the file to write; overwritten if it exists. */
  output: string;
  text: string;
  /** Name of the text, stored in the file; "" for none. */
  dataset: string;
  /** Tokens per chunk; at least 16. */
  chunkTokens: number;
  /** Maximum number of chunks; 0 uses the whole text. */
  chunksMax: number;
  threads: number;
}

export interface NativeImatrixResult {
  chunks: number;
  matrices: number;
}

/** Computes an importance matrix. Calls `onChunk` with the number of chunks done and the total. */
export function computeImatrix(
  options: NativeImatrixOptions,
  onChunk: (done: number, total: number) => void,
): Promise<NativeImatrixResult>;
