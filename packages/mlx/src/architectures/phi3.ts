// Phi 3 and models built like it. The keys and the factors for long texts follow Phi3MiniModel in llama.cpp's
// conversion/phi.py. In both formats queries, keys and values are one matrix, and so are gate and up of the feed-forward.
import { z } from "zod";

import { MlxError } from "../errors.ts";
import { float32, uint32, type ConstantTensor, type Entry } from "./architecture.ts";
import { ropeKeys, readRope, type Rope } from "./rope.ts";
import { optional, tokenCount, Transformer } from "./settings.ts";
import { family, sizeKeys } from "./transformer.ts";

const Phi3 = Transformer.extend({
  max_position_embeddings: tokenCount,
  original_max_position_embeddings: optional(tokenCount),
  partial_rotary_factor: optional(z.number().positive().max(1)),
  sliding_window: optional(tokenCount),
});
type Phi3 = z.infer<typeof Phi3>;

/** Phi 3's training context, for files that do not give it. */
const CONTEXT = 4096;

export const phi3 = family({
  modelTypes: ["phi3"],
  architecture: "phi3",
  fields: Phi3,
  plan(settings, shape) {
    const { embedding, heads, kvHeads, headSize, feedForward } = shape;
    const rope = readRope(settings, ["default", "longrope"]);
    const part = rope.parameters.partial_rotary_factor ?? settings.partial_rotary_factor ?? 1;
    const rotated = Math.floor(Math.floor(part * embedding) / heads);
    const long = longTexts(rope, settings, rotated);
    return {
      keys: [
        ...sizeKeys(shape, settings),
        ["attention.head_count_kv", uint32(kvHeads)],
        ["attention.layer_norm_rms_epsilon", float32(settings.rms_norm_eps)],
        ["rope.scaling.original_context_length", uint32(originalContext(rope, settings))],
        ["rope.dimension_count", uint32(rotated)],
        ...ropeKeys(rope),
        // 0 means none to llama.cpp.
        ["attention.sliding_window", uint32(settings.sliding_window ?? 0)],
        ...long.keys,
      ],
      constants: long.factors,
      layer(layer) {
        layer.norm("attn_norm", "input_layernorm", embedding);
        layer.linear("attn_qkv", "self_attn.qkv_proj", [embedding, (heads + 2 * kvHeads) * headSize]);
        layer.linear("attn_output", "self_attn.o_proj", [heads * headSize, embedding]);
        layer.norm("ffn_norm", "post_attention_layernorm", embedding);
        layer.linear("ffn_up", "mlp.gate_up_proj", [embedding, 2 * feedForward]);
        layer.linear("ffn_down", "mlp.down_proj", [feedForward, embedding]);
      },
    };
  },
});

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
