// Qwen2, Qwen3 and Qwen3 with experts. The names follow Qwen2Model and its subclasses in llama.cpp's conversion/qwen.py.
import { z } from "zod";

import { readFields } from "../config.ts";
import type { MlxConfig } from "../config.ts";
import { MlxError } from "../errors.ts";
import type { Architecture, ModelPlan } from "./architecture.ts";
import { uint32, modelMetadata } from "./metadata.ts";
import type { Entry } from "./metadata.ts";
import { ropeKeys, ropeOf } from "./rope.ts";
import { expertCount, optional, shapeOf, Transformer, width } from "./settings.ts";
import type { Shape } from "./settings.ts";
import { TensorList } from "./tensor-list.ts";
import { attention, expertFeedForward, feedForward, transformerKeys } from "./transformer.ts";

export const qwen2: Architecture = {
  modelTypes: ["qwen2"],
  plan: (config, tensorNames) => {
    const settings = readFields(config, Transformer);
    return plan("qwen2", settings, tensorNames, { hasNorms: false });
  },
};

export const qwen3: Architecture = {
  modelTypes: ["qwen3"],
  plan: (config, tensorNames) => {
    const settings = readFields(config, Transformer);
    return plan("qwen3", settings, tensorNames, { hasNorms: true });
  },
};

const Qwen3Moe = Transformer.extend({
  num_experts: expertCount,
  num_experts_per_tok: expertCount,
  moe_intermediate_size: width,
  norm_topk_prob: optional(z.boolean()),
  decoder_sparse_step: optional(z.int()),
  mlp_only_layers: optional(z.array(z.int()).max(512)),
});
type Qwen3Moe = z.infer<typeof Qwen3Moe>;

export const qwen3Moe: Architecture = {
  modelTypes: ["qwen3_moe"],
  plan: (config, tensorNames) => {
    const settings = readExperts(config);
    return plan("qwen3moe", settings, tensorNames, { hasNorms: true, experts: settings });
  },
};

function readExperts(config: MlxConfig): Qwen3Moe {
  const settings = readFields(config, Qwen3Moe);
  const isEverywhere =
    (settings.decoder_sparse_step ?? 1) === 1 && (settings.mlp_only_layers ?? []).length === 0;
  if (!isEverywhere || settings.norm_topk_prob === false) {
    throw new MlxError(
      "mlx_unsupported",
      "llama.cpp supports this type of model only with experts in every layer, whose weights add up to 1 (norm_topk_prob).",
    );
  }
  return settings;
}

interface Variant {
  /** Whether queries and keys are normed. */
  hasNorms: boolean;
  experts?: Qwen3Moe;
}

function plan(
  architecture: string,
  settings: Transformer,
  tensorNames: ReadonlySet<string>,
  variant: Variant,
): ModelPlan {
  const shape = shapeOf(settings);
  const list = new TensorList(tensorNames);
  list.embeddings(shape);
  for (let index = 0; index < shape.layers; index++) layer(list, index, shape, variant);
  list.norm("output_norm", "model.norm", shape.embedding);
  list.output(shape, settings.tie_word_embeddings);
  const keys = [
    ...transformerKeys(shape, settings),
    ...ropeKeys(ropeOf(settings, ["default", "linear", "yarn"])),
    ...expertKeys(variant.experts),
  ];
  return {
    metadata: modelMetadata(architecture, keys),
    vocabulary: shape.vocabulary,
    tensors: list.end(),
  };
}

function layer(list: TensorList, index: number, shape: Shape, { hasNorms, experts }: Variant): void {
  const [block, module] = [`blk.${index}`, `model.layers.${index}`];
  list.norm(`${block}.attn_norm`, `${module}.input_layernorm`, shape.embedding);
  attention(list, block, `${module}.self_attn`, shape);
  if (hasNorms) {
    list.norm(`${block}.attn_q_norm`, `${module}.self_attn.q_norm`, shape.headSize);
    list.norm(`${block}.attn_k_norm`, `${module}.self_attn.k_norm`, shape.headSize);
  }
  list.norm(`${block}.ffn_norm`, `${module}.post_attention_layernorm`, shape.embedding);
  if (experts === undefined) feedForward(list, block, `${module}.mlp`, shape);
  else {
    const inner = experts.moe_intermediate_size;
    expertFeedForward(list, block, `${module}.mlp`, {
      embedding: shape.embedding,
      experts: experts.num_experts,
      inner,
    });
  }
}

function expertKeys(experts: Qwen3Moe | undefined): Entry[] {
  if (experts === undefined) return [];
  return [
    ["expert_count", uint32(experts.num_experts)],
    ["expert_used_count", uint32(experts.num_experts_per_tok)],
    ["expert_feed_forward_length", uint32(experts.moe_intermediate_size)],
  ];
}
