// Phi 3 and what is built like it. The keys and the factors of long texts follow Phi3MiniModel in llama.cpp's
// conversion/phi.py; queries, keys and values are one matrix there too, and so are the gate and the up of the feed-forward.
import { z } from "zod";

import { readFields } from "../config.ts";
import { MlxError } from "../errors.ts";
import type { Architecture, ConstantTensor, TensorPlan } from "./architecture.ts";
import { count, float, modelMetadata } from "./metadata.ts";
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

/** What Phi 3 was trained for, where the file does not say. */
const CONTEXT = 4096;

export const phi3: Architecture = {
  modelTypes: ["phi3"],
  plan(config, tensorNames) {
    const settings = readFields(config, Phi3);
    const shape = shapeOf(settings);
    const rope = ropeOf(settings, ["default", "longrope"]);
    const part = rope.parameters.partial_rotary_factor ?? settings.partial_rotary_factor ?? 1;
    const turned = Math.floor(Math.floor(part * shape.embedding) / shape.heads);
    const long = longTexts(rope, settings, turned);
    return {
      metadata: modelMetadata("phi3", [
        ...sizeKeys(shape, settings),
        ["attention.head_count_kv", count(shape.kvHeads)],
        ["attention.layer_norm_rms_epsilon", float(settings.rms_norm_eps)],
        ["rope.scaling.original_context_length", count(originalContext(rope, settings))],
        ["rope.dimension_count", count(turned)],
        ...ropeKeys(rope),
        // llama.cpp takes 0 for "none".
        ["attention.sliding_window", count(settings.sliding_window ?? 0)],
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

/** The factors for long texts and for short ones, and how much attention is raised for them. */
function longTexts(rope: Rope, settings: Phi3, turned: number): { keys: Entry[]; factors: ConstantTensor[] } {
  if (rope.kind !== "longrope") return { keys: [], factors: [] };
  const { long_factor: long, short_factor: short } = rope.parameters;
  if (long?.length !== turned / 2 || short?.length !== turned / 2) {
    throw new MlxError(
      "mlx_malformed",
      `config.json must have ${turned / 2} factors for long texts and as many for short ones.`,
    );
  }
  const original = originalContext(rope, settings);
  const scale = settings.max_position_embeddings / original;
  const raised = scale > 1 ? Math.sqrt(1 + Math.log(scale) / Math.log(original)) : 1;
  return {
    keys: [["rope.scaling.attn_factor", float(raised)]],
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
