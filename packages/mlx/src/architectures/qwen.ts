// Qwen2, Qwen3 and Qwen3 with experts. The names follow Qwen2Model and its subclasses in llama.cpp's conversion/qwen.py.
import { z } from "zod";

import { MlxError } from "../errors.ts";
import { ropeKeys, readRope } from "./rope.ts";
import { expertCount, optional, Transformer, width, type Shape } from "./settings.ts";
import {
  attention,
  expertFeedForward,
  expertKeys,
  family,
  feedForward,
  transformerKeys,
  type AttentionVariant,
  type Experts,
  type FamilyPlan,
} from "./transformer.ts";

/** Norms of queries and keys, from Qwen3 on. */
const norms = ["q_norm", "k_norm"] as const;

export const qwen2 = family({
  modelTypes: ["qwen2"],
  architecture: "qwen2",
  fields: Transformer,
  plan: (settings, shape) => plan(settings, shape, {}),
});

export const qwen3 = family({
  modelTypes: ["qwen3"],
  architecture: "qwen3",
  fields: Transformer,
  plan: (settings, shape) => plan(settings, shape, { norms }),
});

export const qwen3Moe = family({
  modelTypes: ["qwen3_moe"],
  architecture: "qwen3moe",
  fields: Transformer.extend({
    num_experts: expertCount,
    num_experts_per_tok: expertCount,
    moe_intermediate_size: width,
    norm_topk_prob: optional(z.boolean()),
    decoder_sparse_step: optional(z.int()),
    mlp_only_layers: optional(z.array(z.int()).max(512)),
  }),
  plan(settings, shape) {
    const {
      decoder_sparse_step: step = 1,
      mlp_only_layers: dense = [],
      norm_topk_prob: sumsToOne,
    } = settings;
    if (step !== 1 || dense.length > 0 || sumsToOne === false) {
      throw new MlxError(
        "mlx_unsupported",
        "llama.cpp supports this type of model only with experts in every layer, whose weights add up to 1 (norm_topk_prob).",
      );
    }
    return plan(settings, shape, { norms }, settings);
  },
});

function plan(settings: Transformer, shape: Shape, variant: AttentionVariant, experts?: Experts): FamilyPlan {
  return {
    keys: [
      ...transformerKeys(shape, settings),
      ...ropeKeys(readRope(settings, ["default", "linear", "yarn"])),
      ...(experts === undefined ? [] : expertKeys(experts)),
    ],
    layer(layer) {
      layer.norm("attn_norm", "input_layernorm", shape.embedding);
      attention(layer, shape, variant);
      layer.norm("ffn_norm", "post_attention_layernorm", shape.embedding);
      if (experts === undefined) feedForward(layer, shape);
      else expertFeedForward(layer, "mlp", shape, experts);
    },
  };
}
