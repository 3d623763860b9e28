// The interface of a family of models: the names of its tensors and settings in GGUF. Each family is one file of this
// folder.
import type { GgufMetadata, GgufValue } from "@ingle/gguf";

import type { MlxConfig } from "../config.ts";

export interface Architecture {
  /** llama.cpp's name. */
  readonly name: string;
  /** Values of config.json's `model_type`. */
  readonly modelTypes: readonly string[];
  /**
   * Plans the GGUF file. `tensorNames` are all tensors of the folder, those of quantization (`.scales`, `.biases`) included.
   * Throws `MlxError`: `mlx_unsupported` for settings that cannot be converted, `mlx_malformed` for impossible values.
   */
  plan(config: MlxConfig, tensorNames: TensorNames): ModelPlan;
}

/** Names of a folder's tensors. */
export type TensorNames = Pick<ReadonlySet<string>, "has" | typeof Symbol.iterator>;

export interface ModelPlan {
  /** Without the keys of the tokenizer and of the weights' storage. */
  readonly metadata: GgufMetadata;
  /** Rows of the token embeddings; the tokenizer is padded to as many tokens. */
  readonly vocabulary: number;
  /** In the order of the file. */
  readonly tensors: readonly TensorPlan[];
  /** Tensors computed from the settings, such as factors of rotary positions. They come first in the file. */
  readonly constants?: readonly ConstantTensor[];
}

/** A tensor of one dimension, in F32. */
export interface ConstantTensor {
  /** Name in the GGUF file. */
  readonly name: string;
  readonly values: Float32Array;
}

export interface TensorPlan {
  /** Name in the GGUF file, such as `blk.0.attn_q.weight`. */
  readonly name: string;
  /**
   * Names of tensors in the folder, such as `model.layers.0.self_attn.q_proj.weight`. A `.weight` that has `.scales` is
   * quantized. Several sources of one shape are stacked in an additional dimension, such as the experts of a mixture.
   */
  readonly sources: readonly string[];
  /**
   * Row `i` of the file is the source's row `rowOrder[i]`; one entry per row. For llama's rotary embedding. It moves whole rows,
   * so it works for quantized tensors too. In a tensor of one dimension each value is a row.
   */
  readonly rowOrder?: Uint32Array;
  /** Added to every value, for example 1 to gemma's norms. Only for sources that are not quantized. */
  readonly add?: number;
  /**
   * Sizes in ggml's order (the row length first), as the settings give them. The source must have the same, except for
   * dimensions of 1.
   */
  readonly shape: readonly number[];
  /**
   * `f32`: llama.cpp computes with this tensor only in F32, for example with convolutions and routers. Tensors of one dimension
   * are always F32. Default: the type closest to the source's storage.
   */
  readonly type?: "f32";
}

/** A key without the architecture's prefix. */
export type Entry = readonly [key: string, value: GgufValue];

export function uint32(value: number): GgufValue {
  return { type: "uint32", value };
}

export function float32(value: number): GgufValue {
  return { type: "float32", value: Math.fround(value) };
}

export function text(value: string): GgufValue {
  return { type: "string", value };
}

/** `architecture` is llama.cpp's name. If two entries have the same key, the later one counts. */
export function modelMetadata(architecture: string, entries: readonly Entry[]): GgufMetadata {
  return new Map<string, GgufValue>([
    ["general.architecture", text(architecture)],
    ["general.type", text("model")],
    ...entries.map(([key, value]): [string, GgufValue] => [`${architecture}.${key}`, value]),
  ]);
}
