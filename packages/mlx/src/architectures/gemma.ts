// Gemma, Gemma 2 and Gemma 3. Their norms multiply by 1 + weight; GGUF stores the sum. The keys follow the classes of these
// names in llama.cpp's conversion/gemma.py.
import { z } from "zod";

import { MlxError } from "../errors.ts";
import { float32, uint32, type Entry } from "./architecture.ts";
import { ropeKeys, readRope } from "./rope.ts";
import {
  epsilon,
  heads,
  optional,
  tokenCount,
  Transformer,
  vocabularySize,
  width,
  type Shape,
} from "./settings.ts";
import {
  attention,
  family,
  feedForward,
  headSizeKeys,
  transformerKeys,
  type FamilyPlan,
} from "./transformer.ts";

const NORM = { add: 1 };

const Gemma = Transformer.extend({ head_dim: width, max_position_embeddings: tokenCount });

export const gemma = family({
  modelTypes: ["gemma"],
  architecture: "gemma",
  fields: Gemma,
  plan: (settings, shape) => ({ keys: transformerKeys(shape, settings), ...layerTensors(1, shape) }),
});

const softcap = z.number().positive().max(1e6);

export const gemma2 = family({
  modelTypes: ["gemma2"],
  architecture: "gemma2",
  fields: Gemma.extend({
    attn_logit_softcapping: softcap,
    final_logit_softcapping: softcap,
    sliding_window: tokenCount,
    query_pre_attn_scalar: optional(z.number()),
  }),
  plan(settings, shape) {
    checkScale(shape, settings.query_pre_attn_scalar, GEMMA2_27B_LAYERS);
    return {
      keys: [
        ...transformerKeys(shape, settings),
        ["attn_logit_softcapping", float32(settings.attn_logit_softcapping)],
        ["final_logit_softcapping", float32(settings.final_logit_softcapping)],
        ["attention.sliding_window", uint32(settings.sliding_window)],
      ],
      ...layerTensors(2, shape),
    };
  },
});

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

/** The default of `sliding_window_pattern`, in llama.cpp too. */
const WINDOW_PATTERN = 6;
const ROPE_BASE = 1_000_000;

export const gemma3 = family({
  modelTypes: ["gemma3_text", "gemma3"],
  architecture: "gemma3",
  fields: Gemma3,
  plan(settings, shape) {
    checkScale(shape, settings.query_pre_attn_scalar, GEMMA3_27B_LAYERS);
    const { final_logit_softcapping: cap } = settings;
    return {
      keys: [
        ...transformerKeys(shape, settings),
        ...headSizeKeys(shape.headSize),
        ...ropeKeys(readRope(settings, ["default", "linear"], ROPE_BASE)),
        ...(cap === undefined ? [] : [["final_logit_softcapping", float32(cap)] as const]),
        ...windowKeys(settings),
      ],
      ...layerTensors(3, shape),
    };
  },
});

function windowKeys(settings: Gemma3): Entry[] {
  const pattern = windowPattern(settings);
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

/** Every layer whose number is a multiple of this sees everything. Newer files list the layers' types instead. */
function windowPattern({ sliding_window_pattern: given, layer_types: types }: Gemma3): number {
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

/** From the second generation on, the outputs of a layer's halves are normed once more; in the third, queries and keys are too. */
function layerTensors(generation: 1 | 2 | 3, shape: Shape): Pick<FamilyPlan, "layer" | "end"> {
  const { embedding } = shape;
  const norms = generation === 3 ? { norms: ["q_norm", "k_norm"] as const, ...NORM } : {};
  return {
    layer(layer) {
      layer.norm("attn_norm", "input_layernorm", embedding, NORM);
      attention(layer, shape, norms);
      // "post_attention_layernorm" is the norm before the feed-forward in the first generation, and the norm after attention later.
      const isFirst = generation === 1;
      if (!isFirst) layer.norm("post_attention_norm", "post_attention_layernorm", embedding, NORM);
      const beforeFeedForward = isFirst ? "post_attention_layernorm" : "pre_feedforward_layernorm";
      layer.norm("ffn_norm", beforeFeedForward, embedding, NORM);
      feedForward(layer, shape);
      if (!isFirst) layer.norm("post_ffw_norm", "post_feedforward_layernorm", embedding, NORM);
    },
    end(list) {
      list.norm("output_norm", "model.norm", embedding, NORM);
      // Older builds of Gemma 3 contain the embeddings a second time, as the output matrix.
      if (generation === 3) list.output(shape, undefined);
    },
  };
}
