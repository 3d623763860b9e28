// Phi 3 and models built like it. The keys and the factors for long texts follow Phi3MiniModel in llama.cpp's
// conversion/phi.py. In both formats queries, keys and values are one matrix, and so are gate and up of the feed-forward.
import { z } from "zod";

import { readFields } from "../config.ts";
import { MlxError } from "../errors.ts";
import type { Architecture, ConstantTensor, TensorPlan } from "./architecture.ts";
import { uint32, float32, modelMetadata } from "./metadata.ts";
import type { Entry } from "./metadata.ts";
import { ropeKeys, ropeOf } from "./rope.ts";
import type { Rope } from "./rope.ts";
import { optional, shapeOf, tokenCount, Transformer } from "./settings.ts";
import type { Shape } from "./settings.ts";
import { TensorList } from "./tensor-list.ts";
import { sizeKeys } from "./transformer.ts";

const Phi3 = Transformer.extend({
  max_position_embeddings: tokenCount,
  original_max_position_embeddings: optional(tokenCount),
  partial_rotary_factor: optional(z.number().positive().max(1)),
  sliding_window: optional(tokenCount),
});
type Phi3 = z.infer<typeof Phi3>;

/** Phi 3's training context, for files that do not give it. */
const CONTEXT = 4096;

export const phi3: Architecture = {
  modelTypes: ["phi3"],
  plan(config, tensorNames) {
    const settings = readFields(config, Phi3);
    const shape = shapeOf(settings);
    const rope = ropeOf(settings, ["default", "longrope"]);
    const part = rope.parameters.partial_rotary_factor ?? settings.partial_rotary_factor ?? 1;
    const rotated = Math.floor(Math.floor(part * shape.embedding) / shape.heads);
    const long = longTexts(rope, settings, rotated);
    return {
      metadata: modelMetadata("phi3", [
        ...sizeKeys(shape, settings),
        ["attention.head_count_kv", uint32(shape.kvHeads)],
        ["attention.layer_norm_rms_epsilon", float32(settings.rms_norm_eps)],
        ["rope.scaling.original_context_length", uint32(originalContext(rope, settings))],
        ["rope.dimension_count", uint32(rotated)],
        ...ropeKeys(rope),
        // 0 means none to llama.cpp.
        ["attention.sliding_window", uint32(settings.sliding_window ?? 0)],
        ...long.keys,
      ]),
      vocabulary: shape.vocabulary,
      constants: long.factors,
      tensors: tensorsOf(tensorNames, shape, settings.tie_word_embeddings),
    };
  },
};

function originalContext({ parameters }: Rope, settings: Phi3): number {
  return parameters.original_max_position_embeddings ?? settings.original_max_position_embeddings ?? CONTEXT;
}

/** The factors for long texts and for short ones, and the scale of attention that goes with them. */
function longTexts(
  rope: Rope,
  settings: Phi3,
  rotated: number,
): { keys: Entry[]; factors: ConstantTensor[] } {
  if (rope.kind !== "longrope") return { keys: [], factors: [] };
  const { long_factor: long, short_factor: short } = rope.parameters;
  if (long?.length !== rotated / 2 || short?.length !== rotated / 2) {
    throw new MlxError(
      "mlx_malformed",
      `config.json must have ${rotated / 2} numbers in long_factor and in short_factor.`,
    );
  }
  const original = originalContext(rope, settings);
  const scale = settings.max_position_embeddings / original;
  const attentionScale = scale > 1 ? Math.sqrt(1 + Math.log(scale) / Math.log(original)) : 1;
  return {
    keys: [["rope.scaling.attn_factor", float32(attentionScale)]],
    factors: [
      { name: "rope_factors_long.weight", values: Float32Array.from(long) },
      { name: "rope_factors_short.weight", values: Float32Array.from(short) },
    ],
  };
}

function tensorsOf(
  names: ReadonlySet<string>,
  shape: Shape,
  isTied: boolean | undefined,
): readonly TensorPlan[] {
  const { embedding, heads, kvHeads, headSize, feedForward } = shape;
  const list = new TensorList(names);
  list.embeddings(shape);
  for (let index = 0; index < shape.layers; index++) {
    const [block, module] = [`blk.${index}`, `model.layers.${index}`];
    const fused = (heads + 2 * kvHeads) * headSize;
    list.norm(`${block}.attn_norm`, `${module}.input_layernorm`, embedding);
    list.linear(`${block}.attn_qkv`, `${module}.self_attn.qkv_proj`, [embedding, fused]);
    list.linear(`${block}.attn_output`, `${module}.self_attn.o_proj`, [heads * headSize, embedding]);
    list.norm(`${block}.ffn_norm`, `${module}.post_attention_layernorm`, embedding);
    list.linear(`${block}.ffn_up`, `${module}.mlp.gate_up_proj`, [embedding, 2 * feedForward]);
    list.linear(`${block}.ffn_down`, `${module}.mlp.down_proj`, [feedForward, embedding]);
  }
  list.norm("output_norm", "model.norm", embedding);
  list.output(shape, isTied);
  return list.end();
}
