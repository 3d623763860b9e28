// What convert.ts must know of a family of models: how its tensors and settings are called in GGUF. One file of this folder
// for each family.
import type { GgufMetadata } from "@ingle/gguf";

import type { MlxConfig } from "../config.ts";

/** One family of models. */
export interface Architecture {
  /** Values of config.json's `model_type`. */
  readonly modelTypes: readonly string[];
  /**
   * What the GGUF file has to hold. `tensorNames`: every tensor of the folder, those of quantization (`.scales`, `.biases`)
   * included. Throws `MlxError`: `mlx_unsupported` for settings that cannot be converted, `mlx_malformed` for values that
   * make no model.
   */
  plan(config: MlxConfig, tensorNames: ReadonlySet<string>): ModelPlan;
}

export interface ModelPlan {
  /** Without the tokenizer's keys, and without those that say how the weights are stored. */
  readonly metadata: GgufMetadata;
  /** How many tokens the embeddings have rows for; the tokenizer is filled up to as many. */
  readonly vocabulary: number;
  /** In the order of the file. */
  readonly tensors: readonly TensorPlan[];
  /** Tensors that follow from the settings, as the factors of rotary positions do. They come first in the file. */
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
   * Names of tensors in the folder, such as `model.layers.0.self_attn.q_proj.weight`. Where `.scales` lie beside a `.weight`
   * it is quantized. Several of one shape become one with a dimension more, as the experts of a mixture.
   */
  readonly sources: readonly string[];
  /**
   * The rows (outputs) in the order of the file: row `i` is the source's row `rowOrder[i]`; as long as the source has rows.
   * For llama's rotary embedding. Rows are whole, so it holds for quantized tensors too. Of a tensor of one dimension each
   * value is a row.
   */
  readonly rowOrder?: Uint32Array;
  /** Added to every value, as 1 to gemma's norms. Only where the source is not quantized. */
  readonly add?: number;
  /**
   * Sizes in ggml's order (the row length first), as the settings have them. The source has the same but for dimensions of 1;
   * anything else is a folder that contradicts itself.
   */
  readonly shape: readonly number[];
  /**
   * `f32`: llama.cpp computes with this tensor in F32 only, as with convolutions and routers. Tensors of one dimension are F32
   * anyhow. Default: what the source's storage suggests.
   */
  readonly type?: "f32";
}
