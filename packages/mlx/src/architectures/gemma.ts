// Gemma, Gemma 2 and Gemma 3. Their norms multiply by 1 + weight; GGUF stores the sum. The keys follow the classes of these
// names in llama.cpp's conversion/gemma.py.
import { z } from "zod";

import { readFields } from "../config.ts";
import { MlxError } from "../errors.ts";
import type { Architecture, TensorPlan } from "./architecture.ts";
import { uint32, float32, modelMetadata } from "./metadata.ts";
import type { Entry } from "./metadata.ts";
import { ropeKeys, ropeOf } from "./rope.ts";
import {
  epsilon,
  heads,
  optional,
  shapeOf,
  tokenCount,
  Transformer,
  vocabularySize,
  width,
} from "./settings.ts";
import type { Shape } from "./settings.ts";
import { TensorList } from "./tensor-list.ts";
import { attention, feedForward, headSizeKeys, transformerKeys } from "./transformer.ts";

const NORM = { add: 1 };

const Gemma = Transformer.extend({ head_dim: width, max_position_embeddings: tokenCount });

export const gemma: Architecture = {
  modelTypes: ["gemma"],
  plan(config, tensorNames) {
    const settings = readFields(config, Gemma);
    const shape = shapeOf(settings);
    return {
      metadata: modelMetadata("gemma", transformerKeys(shape, settings)),
      vocabulary: shape.vocabulary,
      tensors: tensorsOf(tensorNames, shape, { hasPostNorms: false, hasQueryNorms: false }),
    };
  },
};

const softcap = z.number().positive().max(1e6);

const Gemma2 = Gemma.extend({
  attn_logit_softcapping: softcap,
  final_logit_softcapping: softcap,
  sliding_window: tokenCount,
  query_pre_attn_scalar: optional(z.number()),
});

export const gemma2: Architecture = {
  modelTypes: ["gemma2"],
  plan(config, tensorNames) {
    const settings = readFields(config, Gemma2);
    const shape = shapeOf(settings);
    checkScale(shape, settings.query_pre_attn_scalar, GEMMA2_27B_LAYERS);
    return {
      metadata: modelMetadata("gemma2", [
        ...transformerKeys(shape, settings),
        ["attn_logit_softcapping", float32(settings.attn_logit_softcapping)],
        ["final_logit_softcapping", float32(settings.final_logit_softcapping)],
        ["attention.sliding_window", uint32(settings.sliding_window)],
      ]),
      vocabulary: shape.vocabulary,
      tensors: tensorsOf(tensorNames, shape, { hasPostNorms: true, hasQueryNorms: false }),
    };
  },
};

// Files of vision models omit the family's defaults.
const Gemma3 = Transformer.extend({
  vocab_size: vocabularySize.default(262_208),
  num_attention_heads: heads.default(8),
  num_key_value_heads: heads.default(4),
  head_dim: width.default(256),
  rms_norm_eps: epsilon.default(1e-6),
  max_position_embeddings: tokenCount.default(131_072),
  sliding_window: optional(tokenCount),
  sliding_window_pattern: optional(z.int().min(1).max(512)),
  layer_types: optional(z.array(z.enum(["full_attention", "sliding_attention"])).max(512)),
  query_pre_attn_scalar: optional(z.number()),
  final_logit_softcapping: optional(softcap),
});
type Gemma3 = z.infer<typeof Gemma3>;

/** Default number of layers per layer that sees everything, in llama.cpp too. */
const WINDOW_PATTERN = 6;
const ROPE_BASE = 1_000_000;

export const gemma3: Architecture = {
  modelTypes: ["gemma3_text", "gemma3"],
  plan(config, tensorNames) {
    const settings = readFields(config, Gemma3);
    const shape = shapeOf(settings);
    checkScale(shape, settings.query_pre_attn_scalar, GEMMA3_27B_LAYERS);
    const rope = ropeOf(settings, ["default", "linear"], ROPE_BASE);
    return {
      metadata: modelMetadata("gemma3", [
        ...transformerKeys(shape, settings),
        ...headSizeKeys(shape.headSize),
        ...ropeKeys(rope),
        ...(settings.final_logit_softcapping === undefined
          ? []
          : [["final_logit_softcapping", float32(settings.final_logit_softcapping)] as const]),
        ...windowKeys(settings),
      ]),
      vocabulary: shape.vocabulary,
      tensors: tensorsOf(tensorNames, shape, { hasPostNorms: true, hasQueryNorms: true }),
    };
  },
};

function windowKeys(settings: Gemma3): Entry[] {
  const pattern = patternOf(settings);
  if (pattern === 1) return [];
  if (settings.sliding_window === undefined)
    throw new MlxError(
      "mlx_malformed",
      "config.json has layers with a sliding window, but no sliding_window.",
    );
  const window: Entry = ["attention.sliding_window", uint32(settings.sliding_window)];
  if (pattern === WINDOW_PATTERN) return [window];
  return [window, ["attention.sliding_window_pattern", uint32(pattern)]];
}

/** One layer in so many sees everything. Newer files list the layers' types instead. */
function patternOf({ sliding_window_pattern: given, layer_types: types }: Gemma3): number {
  if (types === undefined) return given ?? WINDOW_PATTERN;
  const first = types.indexOf("full_attention");
  const pattern = first === -1 ? (given ?? WINDOW_PATTERN) : first + 1;
  if (types.some((type, index) => (type === "full_attention") !== ((index + 1) % pattern === 0))) {
    throw new MlxError(
      "mlx_unsupported",
      "The layers with a sliding window follow no regular pattern, which llama.cpp does not support for this type of model.",
    );
  }
  return pattern;
}

// llama.cpp recognizes the largest models by their number of layers, and scales their attention scores differently.
const GEMMA2_27B_LAYERS = 46;
const GEMMA3_27B_LAYERS = 62;

function checkScale(shape: Shape, given: number | undefined, largest: number): void {
  const computed = shape.layers === largest ? Math.floor(shape.embedding / shape.heads) : shape.headSize;
  if (given === undefined || given === computed) return;
  throw new MlxError(
    "mlx_unsupported",
    `config.json divides attention scores by the root of ${given} (query_pre_attn_scalar); llama.cpp uses ${computed} for this model.`,
  );
}

interface Norms {
  /** Whether the outputs of a layer's halves are normed once more. */
  hasPostNorms: boolean;
  /** Whether queries and keys are normed. */
  hasQueryNorms: boolean;
}

function tensorsOf(names: ReadonlySet<string>, shape: Shape, norms: Norms): readonly TensorPlan[] {
  const list = new TensorList(names);
  list.embeddings(shape);
  for (let index = 0; index < shape.layers; index++) layer(list, index, shape, norms);
  list.norm("output_norm", "model.norm", shape.embedding, NORM);
  // Older builds of Gemma 3 contain the embeddings a second time, as the output matrix.
  if (norms.hasQueryNorms) list.output(shape, undefined);
  return list.end();
}

function layer(list: TensorList, index: number, shape: Shape, norms: Norms): void {
  const [block, module] = [`blk.${index}`, `model.layers.${index}`];
  const { embedding, headSize } = shape;
  list.norm(`${block}.attn_norm`, `${module}.input_layernorm`, embedding, NORM);
  attention(list, block, `${module}.self_attn`, shape);
  if (norms.hasQueryNorms) {
    list.norm(`${block}.attn_q_norm`, `${module}.self_attn.q_norm`, headSize, NORM);
    list.norm(`${block}.attn_k_norm`, `${module}.self_attn.k_norm`, headSize, NORM);
  }
  // "post_attention_layernorm" is the norm before the feed-forward in the first generation, and the norm after attention later.
  const [afterAttention, beforeFeedForward] = norms.hasPostNorms
    ? ["post_attention_layernorm", "pre_feedforward_layernorm"]
    : [undefined, "post_attention_layernorm"];
  if (afterAttention !== undefined)
    list.norm(`${block}.post_attention_norm`, `${module}.${afterAttention}`, embedding, NORM);
  list.norm(`${block}.ffn_norm`, `${module}.${beforeFeedForward}`, embedding, NORM);
  feedForward(list, block, `${module}.mlp`, shape);
  if (norms.hasPostNorms)
    list.norm(`${block}.post_ffw_norm`, `${module}.post_feedforward_layernorm`, embedding, NORM);
}
