// LFM2, with and without experts: some layers are convolutions, the others attention. The keys follow LFM2Model and
// LFM2MoeModel in llama.cpp's conversion/lfm2.py; the folder's names are those of mlx-lm's lfm2.py and lfm2_moe.py.
import { z } from "zod";

import { MlxError } from "../errors.ts";
import { float32, uint32, type Entry } from "./architecture.ts";
import { ropeKeys, readRope } from "./rope.ts";
import { epsilon, expertCount, heads, optional, Transformer, width, type Shape } from "./settings.ts";
import type { TensorList } from "./tensor-list.ts";
import {
  attention,
  expertFeedForward,
  expertKeys,
  family,
  feedForward,
  sizeKeys,
  type Experts,
  type FamilyPlan,
} from "./transformer.ts";

const Lfm2 = Transformer.omit({ rms_norm_eps: true }).extend({
  num_key_value_heads: heads,
  intermediate_size: optional(width),
  norm_eps: epsilon,
  /** The older name of `rope_theta`. */
  theta: optional(z.number().positive().max(1e12)),
  conv_L_cache: z.int().min(2).max(1024),
  layer_types: optional(z.array(z.string()).max(512)),
  /** The older list of attention layers. */
  full_attn_idxs: optional(z.array(z.int()).max(512)),
  block_ff_dim: optional(width),
  block_auto_adjust_ff_dim: optional(z.boolean()),
  block_ffn_dim_multiplier: optional(z.number().positive().max(1024)),
  block_multiple_of: optional(width),
});
type Lfm2 = z.infer<typeof Lfm2>;

const ROPE_BASE = 1_000_000;
const BLOCK_MULTIPLE = 256;
/** llama.cpp's number for experts weighted by the sigmoid of their scores. */
const SIGMOID_GATING = 2;

export const lfm2 = family({
  modelTypes: ["lfm2", "lfm2_vl", "lfm2-vl"],
  architecture: "lfm2",
  fields: Lfm2.transform((settings) => ({
    ...settings,
    rms_norm_eps: settings.norm_eps,
    intermediate_size: feedForwardWidth(settings),
  })),
  plan: (settings, shape) => makePlan(settings, shape, { keys: [], denseLayers: shape.layers }),
});

export const lfm2Moe = family({
  modelTypes: ["lfm2_moe"],
  architecture: "lfm2moe",
  fields: Lfm2.extend({
    intermediate_size: width,
    num_experts: expertCount,
    num_experts_per_tok: expertCount,
    moe_intermediate_size: width,
    num_dense_layers: z.int().min(0).max(512),
    norm_topk_prob: optional(z.boolean()),
    routed_scaling_factor: optional(z.number()),
  }).transform((settings) => ({ ...settings, rms_norm_eps: settings.norm_eps })),
  plan(settings, shape) {
    if (settings.norm_topk_prob === false || (settings.routed_scaling_factor ?? 1) !== 1) {
      throw new MlxError(
        "mlx_unsupported",
        "llama.cpp supports this type of model only with experts whose weights add up to 1 (norm_topk_prob).",
      );
    }
    const denseLayers = settings.num_dense_layers;
    const keys: Entry[] = [
      ...expertKeys(settings),
      ["leading_dense_block_count", uint32(denseLayers)],
      ["expert_gating_func", uint32(SIGMOID_GATING)],
    ];
    return makePlan(settings, shape, { keys, denseLayers, experts: settings });
  },
});

/** The inner width of a feed-forward; config.json gives it before an adjustment. */
function feedForwardWidth(settings: Lfm2): number {
  const given = settings.block_ff_dim ?? settings.intermediate_size;
  if (given === undefined) throw new MlxError("mlx_malformed", "config.json has no block_ff_dim.");
  if (settings.block_auto_adjust_ff_dim === false) return given;
  const reduced = Math.floor((2 * given) / 3);
  const scaled = Math.floor((settings.block_ffn_dim_multiplier ?? 1) * reduced);
  const multiple = settings.block_multiple_of ?? BLOCK_MULTIPLE;
  return multiple * Math.ceil(scaled / multiple);
}

function makePlan(
  settings: Lfm2,
  shape: Shape,
  { keys, denseLayers, experts }: { keys: readonly Entry[]; denseLayers: number; experts?: Experts },
): FamilyPlan {
  const { embedding } = shape;
  const hasAttention = attentionLayers(settings);
  return {
    keys: [
      ...sizeKeys(shape, settings),
      // llama.cpp recognizes convolution layers by their having no KV heads.
      [
        "attention.head_count_kv",
        { type: "int32", values: hasAttention.map((has) => (has ? shape.kvHeads : 0)) },
      ],
      ["attention.layer_norm_rms_epsilon", float32(settings.norm_eps)],
      ...ropeKeys(readRope(settings, ["default"], settings.theta ?? ROPE_BASE)),
      ["vocab_size", uint32(shape.vocabulary)],
      ["shortconv.l_cache", uint32(settings.conv_L_cache)],
      ...keys,
    ],
    layer(layer, index) {
      layer.norm("attn_norm", "operator_norm", embedding);
      if (hasAttention[index] === true)
        attention(layer, shape, { output: "out_proj", norms: ["q_layernorm", "k_layernorm"] });
      else convolution(layer, shape, settings.conv_L_cache);
      layer.norm("ffn_norm", "ffn_norm", embedding);
      if (experts === undefined || index < denseLayers) return feedForward(layer, shape, denseNames(layer));
      expertFeedForward(layer, "feed_forward", shape, experts);
      layer.tensor("exp_probs_b.bias", "feed_forward.expert_bias", [experts.num_experts]);
    },
    end(list) {
      list.norm("token_embd_norm", "model.embedding_norm", embedding);
      list.output(shape, undefined);
    },
  };
}

/** For each layer whether it is attention; the others are convolutions. */
function attentionLayers(settings: Lfm2): boolean[] {
  const { num_hidden_layers: length, layer_types: types, full_attn_idxs: indices } = settings;
  if (types === undefined && indices === undefined)
    throw new MlxError("mlx_malformed", "config.json does not list its attention layers (layer_types).");
  if (types !== undefined && !(types.length === length && types.every(isLayerType)))
    throw new MlxError(
      "mlx_malformed",
      `layer_types in config.json must list "conv" or "full_attention" for each of the ${length} layers.`,
    );
  return Array.from({ length }, (_, index) =>
    types === undefined ? indices?.includes(index) === true : types[index] === "full_attention",
  );
}

function isLayerType(type: string): boolean {
  return type === "conv" || type === "full_attention";
}

/** The folder stores the convolution as channels, length, 1. llama.cpp's has no bias. */
function convolution(layer: TensorList, { embedding }: Shape, length: number): void {
  layer.tensor("shortconv.conv.weight", "conv.conv.weight", [length, embedding], { type: "f32" });
  layer.linear("shortconv.in_proj", "conv.in_proj", [embedding, 3 * embedding]);
  layer.linear("shortconv.out_proj", "conv.out_proj", [embedding, embedding]);
}

/** A feed-forward without experts is named w1, w3, w2 in the dense family, and like an expert in the other. */
function denseNames(layer: TensorList): [gate: string, up: string, down: string] {
  return layer.has("feed_forward.w1.weight")
    ? ["feed_forward.w1", "feed_forward.w3", "feed_forward.w2"]
    : ["feed_forward.gate_proj", "feed_forward.up_proj", "feed_forward.down_proj"];
}
