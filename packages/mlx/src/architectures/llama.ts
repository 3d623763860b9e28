// Llama and Mistral. The names and the row order follow LlamaModel in llama.cpp's conversion/llama.py.
import { z } from "zod";

import { readFields } from "../config.ts";
import { MlxError } from "../errors.ts";
import type { Architecture } from "./architecture.ts";
import { uint32, modelMetadata } from "./metadata.ts";
import { interleavedRows, llama3Factors, ropeKeys, ropeOf } from "./rope.ts";
import { optional, shapeOf, Transformer } from "./settings.ts";
import type { Shape } from "./settings.ts";
import { TensorList } from "./tensor-list.ts";
import { attention, feedForward, transformerKeys } from "./transformer.ts";

const Llama = Transformer.extend({
  layer_types: optional(z.array(z.string()).max(512)),
});

export const llama: Architecture = {
  modelTypes: ["llama", "mistral"],
  plan(config, tensorNames) {
    const settings = readFields(config, Llama);
    // MLX and llama.cpp ignore a `sliding_window` without `layer_types`, which early Mistral models have.
    if (settings.layer_types?.some((type) => type !== "full_attention") === true) {
      throw new MlxError(
        "mlx_unsupported",
        "Some layers of this model have a sliding window, which llama.cpp does not support for llama models.",
      );
    }
    const shape = shapeOf(settings);
    const rope = ropeOf(settings, ["default", "linear", "yarn", "llama3"]);
    const factors =
      rope.kind === "llama3"
        ? [{ name: "rope_freqs.weight", values: llama3Factors(rope, shape.headSize) }]
        : [];
    return {
      metadata: modelMetadata("llama", [
        ...transformerKeys(shape, settings),
        ...ropeKeys(rope),
        ["vocab_size", uint32(shape.vocabulary)],
        ["rope.dimension_count", uint32(shape.headSize)],
      ]),
      vocabulary: shape.vocabulary,
      constants: factors,
      tensors: tensorsOf(tensorNames, shape, settings.tie_word_embeddings),
    };
  },
};

function tensorsOf(names: ReadonlySet<string>, shape: Shape, isTied: boolean | undefined) {
  const list = new TensorList(names);
  list.embeddings(shape);
  for (let index = 0; index < shape.layers; index++) {
    const [block, module] = [`blk.${index}`, `model.layers.${index}`];
    list.norm(`${block}.attn_norm`, `${module}.input_layernorm`, shape.embedding);
    attention(list, block, `${module}.self_attn`, shape, interleavedRows);
    list.norm(`${block}.ffn_norm`, `${module}.post_attention_layernorm`, shape.embedding);
    feedForward(list, block, `${module}.mlp`, shape);
  }
  list.norm("output_norm", "model.norm", shape.embedding);
  list.output(shape, isTied);
  return list.end();
}
