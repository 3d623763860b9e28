// Llama and Mistral. The names and the row order follow LlamaModel in llama.cpp's conversion/llama.py.
import { z } from "zod";

import { MlxError } from "../errors.ts";
import { uint32 } from "./architecture.ts";
import { interleavedRows, llama3Factors, ropeKeys, readRope } from "./rope.ts";
import { optional, Transformer } from "./settings.ts";
import { attention, family, feedForward, transformerKeys } from "./transformer.ts";

export const llama = family({
  modelTypes: ["llama", "mistral"],
  architecture: "llama",
  fields: Transformer.extend({ layer_types: optional(z.array(z.string()).max(512)) }),
  plan(settings, shape) {
    // MLX and llama.cpp ignore a `sliding_window` without `layer_types`, which early Mistral models have.
    if (settings.layer_types?.some((type) => type !== "full_attention") === true) {
      throw new MlxError(
        "mlx_unsupported",
        "Some layers of this model have a sliding window, which llama.cpp does not support for llama models.",
      );
    }
    const rope = readRope(settings, ["default", "linear", "yarn", "llama3"]);
    return {
      keys: [
        ...transformerKeys(shape, settings),
        ...ropeKeys(rope),
        ["vocab_size", uint32(shape.vocabulary)],
        ["rope.dimension_count", uint32(shape.headSize)],
      ],
      constants:
        rope.kind === "llama3"
          ? [{ name: "rope_freqs.weight", values: llama3Factors(rope, shape.headSize) }]
          : [],
      layer(layer) {
        layer.norm("attn_norm", "input_layernorm", shape.embedding);
        attention(layer, shape, { headRowOrder: interleavedRows });
        layer.norm("ffn_norm", "post_attention_layernorm", shape.embedding);
        feedForward(layer, shape);
      },
    };
  },
});
