// What plain transformers share: the keys that llama.cpp's converter writes for them (TextModel in its conversion/base.py),
// and the tensors of their layers.
import { uint32, float32 } from "./metadata.ts";
import type { Entry } from "./metadata.ts";
import type { Shape, Transformer } from "./settings.ts";
import type { TensorList } from "./tensor-list.ts";

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

/** The four matrices of attention. `rowsOf` gives the row order of queries and keys if it differs from the folder's. */
export function attention(
  list: TensorList,
  block: string,
  module: string,
  { embedding, heads, kvHeads, headSize }: Shape,
  rowsOf?: (heads: number, headSize: number) => Uint32Array,
): void {
  const queries = rowsOf === undefined ? {} : { rowOrder: rowsOf(heads, headSize) };
  const keys = rowsOf === undefined ? {} : { rowOrder: rowsOf(kvHeads, headSize) };
  list.linear(`${block}.attn_q`, `${module}.q_proj`, [embedding, heads * headSize], queries);
  list.linear(`${block}.attn_k`, `${module}.k_proj`, [embedding, kvHeads * headSize], keys);
  list.linear(`${block}.attn_v`, `${module}.v_proj`, [embedding, kvHeads * headSize]);
  list.linear(`${block}.attn_output`, `${module}.o_proj`, [heads * headSize, embedding]);
}

/** The three matrices of a gated feed-forward. */
export function feedForward(
  list: TensorList,
  block: string,
  module: string,
  { embedding, feedForward: inner }: Shape,
): void {
  list.linear(`${block}.ffn_gate`, `${module}.gate_proj`, [embedding, inner]);
  list.linear(`${block}.ffn_up`, `${module}.up_proj`, [embedding, inner]);
  list.linear(`${block}.ffn_down`, `${module}.down_proj`, [inner, embedding]);
}

/** A feed-forward with experts: the router, which llama.cpp needs in F32, and the experts' matrices as stacks. */
export function expertFeedForward(
  list: TensorList,
  block: string,
  module: string,
  { embedding, experts, inner }: { embedding: number; experts: number; inner: number },
): void {
  list.linear(`${block}.ffn_gate_inp`, `${module}.gate`, [embedding, experts], { type: "f32" });
  list.linear(`${block}.ffn_gate_exps`, `${module}.switch_mlp.gate_proj`, [embedding, inner, experts]);
  list.linear(`${block}.ffn_up_exps`, `${module}.switch_mlp.up_proj`, [embedding, inner, experts]);
  list.linear(`${block}.ffn_down_exps`, `${module}.switch_mlp.down_proj`, [inner, embedding, experts]);
}
