// The part of the seam that works on files of models; index.d.ts has the rest. It takes minutes, cannot be stopped, and
// damaged files can end the process: it wants a process of its own.
import type { NativeLoadOptions } from "./index.js";

export interface NativeQuantizeOptions {
  /** A GGUF file; for a split model its first part. */
  input: string;
  /** Overwritten. */
  output: string;
  /** llama.cpp's number of a whole file's quantization (`general.file_type`). */
  fileType: number;
  threads: number;
  allowRequantize: boolean;
  /** An importance matrix; "" for none. */
  imatrix: string;
}

/** Bytes of all tensors that would be written, to a hundredth of a MiB. */
export function planQuantization(options: NativeQuantizeOptions): Promise<number>;
/** `onTensor` gets the name of each tensor before it is worked on. */
export function quantizeModel(
  options: NativeQuantizeOptions,
  onTensor: (name: string) => void,
): Promise<void>;

/** Like the above, for the importance matrix of a model: see src/llama/quantize/imatrix.h. */
export interface NativeImatrixOptions {
  model: NativeLoadOptions;
  /** Overwritten. */
  output: string;
  text: string;
  /** What the file says the text was; "" to say nothing. */
  dataset: string;
  /** Tokens that are computed together; at least 16. */
  chunkTokens: number;
  /** Most chunks; 0 takes all of the text. */
  chunksMax: number;
  threads: number;
}

export interface NativeImatrixResult {
  chunks: number;
  matrices: number;
}

/** `onChunk` gets how many chunks are done, of how many. */
export function computeImatrix(
  options: NativeImatrixOptions,
  onChunk: (done: number, total: number) => void,
): Promise<NativeImatrixResult>;
