// A family of transformers, and what the families share: the keys that llama.cpp's converter writes for them (TextModel in its
// conversion/base.py), and the tensors of their layers.
import type { z } from "zod";

import { readFields } from "../config.ts";
import {
  float32,
  modelMetadata,
  uint32,
  type Architecture,
  type ConstantTensor,
  type Entry,
} from "./architecture.ts";
import { toShape, type Shape, type Transformer } from "./settings.ts";
import { TensorList } from "./tensor-list.ts";

interface Family<Settings extends Transformer> {
  modelTypes: readonly string[];
  /** llama.cpp's name. */
  architecture: string;
  /** The fields of config.json. */
  fields: z.ZodType<Settings>;
  /** Throws as `Architecture.plan`. */
  plan: (settings: Settings, shape: Shape) => FamilyPlan;
}

export interface FamilyPlan {
  keys: readonly Entry[];
  constants?: readonly ConstantTensor[];
  /** Adds the tensors of a layer, whose names begin with `blk.N.` in the file and `model.layers.N.` in the folder. */
  layer: (layer: TensorList, index: number) => void;
  /** Adds the tensors after the layers. Default: the last norm and the output matrix. */
  end?: (list: TensorList) => void;
}

export function family<Settings extends Transformer>({
  modelTypes,
  architecture,
  fields,
  plan,
}: Family<Settings>): Architecture {
  return {
    name: architecture,
    modelTypes,
    plan(config, tensorNames) {
      const settings = readFields(config, fields);
      const shape = toShape(settings);
      const { keys, constants = [], layer, end } = plan(settings, shape);
      const list = new TensorList(tensorNames);
      list.embeddings(shape);
      for (let index = 0; index < shape.layers; index++)
        layer(list.within(`blk.${index}.`, `model.layers.${index}.`), index);
      if (end === undefined) {
        list.norm("output_norm", "model.norm", shape.embedding);
        list.output(shape, settings.tie_word_embeddings);
      } else end(list);
      const metadata = modelMetadata(architecture, keys);
      return { metadata, vocabulary: shape.vocabulary, constants, tensors: list.end() };
    },
  };
}

/** The keys of every family. It adds those of KV heads, norms and positions itself. */
export function sizeKeys(shape: Shape, settings: Pick<Transformer, "max_position_embeddings">): Entry[] {
  const context = settings.max_position_embeddings;
  return [
    ["block_count", uint32(shape.layers)],
    ...(context === undefined ? [] : [["context_length", uint32(context)] as const]),
    ["embedding_length", uint32(shape.embedding)],
    ["feed_forward_length", uint32(shape.feedForward)],
    ["attention.head_count", uint32(shape.heads)],
  ];
}

/** The keys of a plain transformer, except the positions. */
export function transformerKeys(shape: Shape, settings: Transformer): Entry[] {
  return [
    ...sizeKeys(shape, settings),
    ["attention.head_count_kv", uint32(shape.kvHeads)],
    ["attention.layer_norm_rms_epsilon", float32(settings.rms_norm_eps)],
    // Like llama.cpp's converter, only if the file gives it; otherwise llama.cpp computes the same size.
    ...(settings.head_dim === undefined ? [] : headSizeKeys(settings.head_dim)),
  ];
}

export function headSizeKeys(headSize: number): Entry[] {
  return [
    ["attention.key_length", uint32(headSize)],
    ["attention.value_length", uint32(headSize)],
  ];
}

export interface AttentionVariant {
  /** The folder's name of the last matrix. Default: `o_proj`. */
  output?: string;
  /** The folder's names of the norms of queries and keys. Default: there are none. */
  norms?: readonly [queries: string, keys: string];
  /** Added to the norms' values. Default: nothing. */
  add?: number;
  /** The row order of queries and keys. Default: the folder's. */
  headRowOrder?: (heads: number, headSize: number) => Uint32Array;
}

/** The four matrices of attention, and the norms of its queries and keys. */
export function attention(
  layer: TensorList,
  { embedding, heads, kvHeads, headSize }: Shape,
  { output = "o_proj", norms, add, headRowOrder }: AttentionVariant = {},
): void {
  const queries = headRowOrder === undefined ? {} : { rowOrder: headRowOrder(heads, headSize) };
  const keys = headRowOrder === undefined ? {} : { rowOrder: headRowOrder(kvHeads, headSize) };
  layer.linear("attn_q", "self_attn.q_proj", [embedding, heads * headSize], queries);
  layer.linear("attn_k", "self_attn.k_proj", [embedding, kvHeads * headSize], keys);
  layer.linear("attn_v", "self_attn.v_proj", [embedding, kvHeads * headSize]);
  layer.linear("attn_output", `self_attn.${output}`, [heads * headSize, embedding]);
  if (norms === undefined) return;
  const treatment = add === undefined ? {} : { add };
  layer.norm("attn_q_norm", `self_attn.${norms[0]}`, headSize, treatment);
  layer.norm("attn_k_norm", `self_attn.${norms[1]}`, headSize, treatment);
}

/** The three matrices of a gated feed-forward, whose names in the folder are given in the order gate, up, down. */
export function feedForward(
  layer: TensorList,
  { embedding, feedForward: inner }: Shape,
  [gate, up, down]: readonly [string, string, string] = ["mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"],
): void {
  layer.linear("ffn_gate", gate, [embedding, inner]);
  layer.linear("ffn_up", up, [embedding, inner]);
  layer.linear("ffn_down", down, [inner, embedding]);
}

/** The experts' fields of config.json. */
export interface Experts {
  num_experts: number;
  num_experts_per_tok: number;
  moe_intermediate_size: number;
}

export function expertKeys(experts: Experts): Entry[] {
  return [
    ["expert_count", uint32(experts.num_experts)],
    ["expert_used_count", uint32(experts.num_experts_per_tok)],
    ["expert_feed_forward_length", uint32(experts.moe_intermediate_size)],
  ];
}

/** A feed-forward with experts: the router, which llama.cpp needs in F32, and the experts' matrices as stacks. */
export function expertFeedForward(
  layer: TensorList,
  module: string,
  { embedding }: Shape,
  { num_experts: experts, moe_intermediate_size: inner }: Experts,
): void {
  layer.linear("ffn_gate_inp", `${module}.gate`, [embedding, experts], { type: "f32" });
  layer.linear("ffn_gate_exps", `${module}.switch_mlp.gate_proj`, [embedding, inner, experts]);
  layer.linear("ffn_up_exps", `${module}.switch_mlp.up_proj`, [embedding, inner, experts]);
  layer.linear("ffn_down_exps", `${module}.switch_mlp.down_proj`, [inner, embedding, experts]);
}
