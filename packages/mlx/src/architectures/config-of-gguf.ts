// The fields of config.json that a GGUF file's metadata were converted from, as far as the names and sizes of its tensors need them.
import type { GgufMetadata } from "@ingle/gguf";

import type { MlxConfig } from "../config.ts";
import type { Architecture } from "./architecture.ts";

/** Fields that the file does not give are undefined; the architecture's schema decides whether it needs them. */
export function configOfGguf({ name, modelTypes }: Architecture, metadata: GgufMetadata): MlxConfig {
  const field = (key: string): unknown => {
    const found = metadata.get(`${name}.${key}`);
    return found === undefined || "values" in found ? undefined : found.value;
  };
  const window = field("attention.sliding_window");
  const kvHeads = perLayer(metadata, `${name}.attention.head_count_kv`);
  const epsilon = field("attention.layer_norm_rms_epsilon");
  const tokens = metadata.get("tokenizer.ggml.tokens");
  const fields = {
    vocab_size:
      field("vocab_size") ?? (tokens !== undefined && "values" in tokens ? tokens.values.length : undefined),
    hidden_size: field("embedding_length"),
    num_hidden_layers: field("block_count"),
    intermediate_size: field("feed_forward_length"),
    num_attention_heads: field("attention.head_count"),
    num_key_value_heads:
      kvHeads === undefined ? field("attention.head_count_kv") : kvHeads.reduce((a, b) => Math.max(a, b), 0),
    head_dim: field("attention.key_length"),
    rms_norm_eps: epsilon,
    max_position_embeddings: field("context_length"),
    // 0 means none to llama.cpp.
    sliding_window: window === 0 ? undefined : window,
    attn_logit_softcapping: field("attn_logit_softcapping"),
    final_logit_softcapping: field("final_logit_softcapping"),
    norm_eps: epsilon,
    conv_L_cache: field("shortconv.l_cache"),
    block_auto_adjust_ff_dim: false,
    // llama.cpp recognizes convolution layers by their having no KV heads.
    layer_types: name.startsWith("lfm2")
      ? kvHeads?.map((count) => (count === 0 ? "conv" : "full_attention"))
      : undefined,
    num_experts: field("expert_count"),
    num_experts_per_tok: field("expert_used_count"),
    moe_intermediate_size: field("expert_feed_forward_length"),
    num_dense_layers: field("leading_dense_block_count"),
  };
  return { modelType: modelTypes[0] ?? name, fields };
}

/** The numbers of a list. */
function perLayer(metadata: GgufMetadata, key: string): number[] | undefined {
  const found = metadata.get(key);
  return found !== undefined && "values" in found ? found.values.map(Number) : undefined;
}
