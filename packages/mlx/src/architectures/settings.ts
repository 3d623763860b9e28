// The fields of config.json that most families share, and the model's sizes. Every number is bounded, because files and
// buffers are sized by them.
import { z } from "zod";

import { MlxError } from "../errors.ts";
import { ropeFields } from "./rope.ts";

/** llama.cpp's limit. */
const LAYERS_MAX = 512;
/** The widest models have some ten thousand. */
const WIDTH_MAX = 2 ** 20;
/** The largest vocabularies have about a quarter of a million tokens; arrays of a GGUF header may have as many as this. */
const VOCABULARY_MAX = 2 ** 21;
/** llama.cpp's limit. */
const EXPERTS_MAX = 1024;

export const width = z.int().min(1).max(WIDTH_MAX);
export const heads = z.int().min(1).max(WIDTH_MAX);
const layerCount = z.int().min(1).max(LAYERS_MAX);
export const vocabularySize = z.int().min(1).max(VOCABULARY_MAX);
export const expertCount = z.int().min(1).max(EXPERTS_MAX);
export const tokenCount = z
  .int()
  .min(1)
  .max(2 ** 31 - 1);
export const epsilon = z.number().positive().max(1);

/** A field that may be missing; null means the same. */
export function optional<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** The fields that nearly all families have. */
export const Transformer = z.object({
  vocab_size: vocabularySize,
  hidden_size: width,
  num_hidden_layers: layerCount,
  intermediate_size: width,
  num_attention_heads: heads,
  num_key_value_heads: optional(heads),
  head_dim: optional(width),
  rms_norm_eps: epsilon,
  max_position_embeddings: optional(tokenCount),
  tie_word_embeddings: optional(z.boolean()),
  ...ropeFields,
});
export type Transformer = z.infer<typeof Transformer>;

export interface Shape {
  readonly vocabulary: number;
  readonly embedding: number;
  readonly layers: number;
  readonly feedForward: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headSize: number;
}

/** Throws `mlx_malformed` for impossible heads. */
export function toShape(settings: Transformer): Shape {
  const { hidden_size: embedding, num_attention_heads: queryHeads } = settings;
  const kvHeads = settings.num_key_value_heads ?? queryHeads;
  const headSize = settings.head_dim ?? embedding / queryHeads;
  const isPossible = Number.isInteger(headSize) && headSize % 2 === 0 && queryHeads % kvHeads === 0;
  if (!isPossible || queryHeads * headSize > WIDTH_MAX) {
    throw new MlxError(
      "mlx_malformed",
      `config.json has impossible attention heads: ${queryHeads} of size ${headSize}, and ${kvHeads} KV heads.`,
    );
  }
  return {
    vocabulary: settings.vocab_size,
    embedding,
    layers: settings.num_hidden_layers,
    feedForward: settings.intermediate_size,
    heads: queryHeads,
    kvHeads,
    headSize,
  };
}
