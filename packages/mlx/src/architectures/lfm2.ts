// LFM2, with and without experts: some layers are convolutions, the others attention. The keys follow LFM2Model and
// LFM2MoeModel in llama.cpp's conversion/lfm2.py; the folder's names are those of mlx-lm's lfm2.py and lfm2_moe.py.
import { z } from "zod";

import { readFields } from "../config.ts";
import { MlxError } from "../errors.ts";
import type { Architecture, ModelPlan } from "./architecture.ts";
import { uint32, float32, modelMetadata } from "./metadata.ts";
import type { Entry } from "./metadata.ts";
import { ropeKeys, ropeOf } from "./rope.ts";
import { epsilon, expertCount, heads, optional, shapeOf, Transformer, width } from "./settings.ts";
import type { Shape } from "./settings.ts";
import { TensorList } from "./tensor-list.ts";
import { expertFeedForward, sizeKeys } from "./transformer.ts";

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

const Lfm2Moe = Lfm2.extend({
  intermediate_size: width,
  num_experts: expertCount,
  num_experts_per_tok: expertCount,
  moe_intermediate_size: width,
  num_dense_layers: z.int().min(0).max(512),
  norm_topk_prob: optional(z.boolean()),
  routed_scaling_factor: optional(z.number()),
});
type Lfm2Moe = z.infer<typeof Lfm2Moe>;

const ROPE_BASE = 1_000_000;
const BLOCK_MULTIPLE = 256;
/** llama.cpp's number for experts weighted by the sigmoid of their scores. */
const SIGMOID_GATING = 2;

export const lfm2: Architecture = {
  modelTypes: ["lfm2", "lfm2_vl", "lfm2-vl"],
  plan(config, tensorNames) {
    const settings = readFields(config, Lfm2);
    return plan("lfm2", settings, feedForwardOf(settings), tensorNames, undefined);
  },
};

export const lfm2Moe: Architecture = {
  modelTypes: ["lfm2_moe"],
  plan(config, tensorNames) {
    const settings = readFields(config, Lfm2Moe);
    if (settings.norm_topk_prob === false || (settings.routed_scaling_factor ?? 1) !== 1) {
      throw new MlxError(
        "mlx_unsupported",
        "llama.cpp supports this type of model only with experts whose weights add up to 1 (norm_topk_prob).",
      );
    }
    return plan("lfm2moe", settings, settings.intermediate_size, tensorNames, settings);
  },
};

/** The inner width of a feed-forward; config.json gives it before an adjustment. */
function feedForwardOf(settings: Lfm2): number {
  const given = settings.block_ff_dim ?? settings.intermediate_size;
  if (given === undefined) throw new MlxError("mlx_malformed", "config.json has no block_ff_dim.");
  if (settings.block_auto_adjust_ff_dim === false) return given;
  const reduced = Math.floor((2 * given) / 3);
  const scaled = Math.floor((settings.block_ffn_dim_multiplier ?? 1) * reduced);
  const multiple = settings.block_multiple_of ?? BLOCK_MULTIPLE;
  return multiple * Math.ceil(scaled / multiple);
}

function plan(
  architecture: string,
  settings: Lfm2,
  inner: number,
  tensorNames: ReadonlySet<string>,
  experts: Lfm2Moe | undefined,
): ModelPlan {
  const shape = shapeOf({ ...settings, rms_norm_eps: settings.norm_eps, intermediate_size: inner });
  const hasAttention = attentionLayers(settings);
  const base = settings.theta ?? ROPE_BASE;
  const list = new TensorList(tensorNames);
  list.embeddings(shape);
  for (const [index, isAttention] of hasAttention.entries())
    layer(list, index, isAttention, shape, settings, experts);
  list.norm("token_embd_norm", "model.embedding_norm", shape.embedding);
  list.output(shape, undefined);
  const keys: Entry[] = [
    ...sizeKeys(shape, settings),
    // llama.cpp recognizes convolution layers by their having no KV heads.
    [
      "attention.head_count_kv",
      { type: "int32", values: hasAttention.map((has) => (has ? shape.kvHeads : 0)) },
    ],
    ["attention.layer_norm_rms_epsilon", float32(settings.norm_eps)],
    ...ropeKeys(ropeOf(settings, ["default"], base)),
    ["vocab_size", uint32(shape.vocabulary)],
    ["shortconv.l_cache", uint32(settings.conv_L_cache)],
    ...expertKeys(experts),
  ];
  return {
    metadata: modelMetadata(architecture, keys),
    vocabulary: shape.vocabulary,
    tensors: list.end(),
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

function layer(
  list: TensorList,
  index: number,
  isAttention: boolean,
  shape: Shape,
  settings: Lfm2,
  experts: Lfm2Moe | undefined,
): void {
  const [block, module] = [`blk.${index}`, `model.layers.${index}`];
  list.norm(`${block}.attn_norm`, `${module}.operator_norm`, shape.embedding);
  if (isAttention) attention(list, block, `${module}.self_attn`, shape);
  else convolution(list, block, `${module}.conv`, shape, settings.conv_L_cache);
  list.norm(`${block}.ffn_norm`, `${module}.ffn_norm`, shape.embedding);
  if (experts === undefined || index < experts.num_dense_layers)
    dense(list, block, `${module}.feed_forward`, shape);
  else mixture(list, block, `${module}.feed_forward`, shape, experts);
}

function attention(list: TensorList, block: string, module: string, shape: Shape): void {
  const { embedding, heads: queryHeads, kvHeads, headSize } = shape;
  list.linear(`${block}.attn_q`, `${module}.q_proj`, [embedding, queryHeads * headSize]);
  list.linear(`${block}.attn_k`, `${module}.k_proj`, [embedding, kvHeads * headSize]);
  list.linear(`${block}.attn_v`, `${module}.v_proj`, [embedding, kvHeads * headSize]);
  list.linear(`${block}.attn_output`, `${module}.out_proj`, [queryHeads * headSize, embedding]);
  list.norm(`${block}.attn_q_norm`, `${module}.q_layernorm`, headSize);
  list.norm(`${block}.attn_k_norm`, `${module}.k_layernorm`, headSize);
}

/** The folder stores the convolution as channels, length, 1. llama.cpp's has no bias. */
function convolution(
  list: TensorList,
  block: string,
  module: string,
  { embedding }: Shape,
  length: number,
): void {
  list.tensor(`${block}.shortconv.conv.weight`, `${module}.conv.weight`, [length, embedding], {
    type: "f32",
  });
  list.linear(`${block}.shortconv.in_proj`, `${module}.in_proj`, [embedding, 3 * embedding]);
  list.linear(`${block}.shortconv.out_proj`, `${module}.out_proj`, [embedding, embedding]);
}

/** A feed-forward without experts: named w1, w3, w2 in the dense family, and like an expert in the other. */
function dense(
  list: TensorList,
  block: string,
  module: string,
  { embedding, feedForward: inner }: Shape,
): void {
  const [gate, up, down] = list.has(`${module}.w1.weight`)
    ? ["w1", "w3", "w2"]
    : ["gate_proj", "up_proj", "down_proj"];
  list.linear(`${block}.ffn_gate`, `${module}.${gate}`, [embedding, inner]);
  list.linear(`${block}.ffn_up`, `${module}.${up}`, [embedding, inner]);
  list.linear(`${block}.ffn_down`, `${module}.${down}`, [inner, embedding]);
}

function mixture(
  list: TensorList,
  block: string,
  module: string,
  { embedding }: Shape,
  experts: Lfm2Moe,
): void {
  const { num_experts: number, moe_intermediate_size: inner } = experts;
  expertFeedForward(list, block, module, { embedding, experts: number, inner });
  list.tensor(`${block}.exp_probs_b.bias`, `${module}.expert_bias`, [number]);
}

function expertKeys(experts: Lfm2Moe | undefined): Entry[] {
  if (experts === undefined) return [];
  return [
    ["expert_count", uint32(experts.num_experts)],
    ["expert_used_count", uint32(experts.num_experts_per_tok)],
    ["expert_feed_forward_length", uint32(experts.moe_intermediate_size)],
    ["leading_dense_block_count", uint32(experts.num_dense_layers)],
    ["expert_gating_func", uint32(SIGMOID_GATING)],
  ];
}
