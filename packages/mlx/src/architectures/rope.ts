// Rotary positions: reads them from config.json, which has three forms for them, and writes GGUF's keys. Reading follows
// TextModel in llama.cpp's conversion/base.py.
import { z } from "zod";

import { MlxError } from "../errors.ts";
import { uint32, float32, text, type Entry } from "./architecture.ts";

const number = z.number().positive().max(1e12).nullish();
/** One factor per pair of a head's values. No real head has as many as allowed here. */
const factors = z.array(z.number().positive().max(1e6)).max(65_536).nullish();

const RopeParameters = z.object({
  rope_type: z.string().max(64).nullish(),
  /** The older name of `rope_type`. */
  type: z.string().max(64).nullish(),
  rope_theta: number,
  factor: number,
  low_freq_factor: number,
  high_freq_factor: number,
  original_max_position_embeddings: number,
  attention_factor: number,
  attn_factor: number,
  extrapolation_factor: number,
  beta_fast: number,
  beta_slow: number,
  long_factor: factors,
  short_factor: factors,
  partial_rotary_factor: z.number().positive().max(1).nullish(),
});
type RopeParameters = z.infer<typeof RopeParameters>;

const RopeSettings = RopeParameters.extend({
  /** Newer files distinguish layers that see everything from those with a sliding window. */
  full_attention: RopeParameters.nullish(),
  sliding_attention: RopeParameters.nullish(),
});

/** The fields of config.json that `readRope` reads. */
export const ropeFields = {
  rope_theta: number,
  rope_local_base_freq: number,
  rope_scaling: RopeSettings.nullish(),
  rope_parameters: RopeSettings.nullish(),
};
const RopeFields = z.object(ropeFields);
type RopeFields = z.infer<typeof RopeFields>;

/** How positions are scaled. `su` is an older name of `longrope`. */
type RopeKind = "default" | "linear" | "yarn" | "llama3" | "longrope";

export interface Rope {
  readonly kind: RopeKind;
  /** The base of the frequencies. */
  readonly base: number;
  /** The base in layers with a sliding window, if it differs. */
  readonly slidingBase: number | undefined;
  readonly parameters: RopeParameters;
}

/** The default base of most families. */
const BASE = 10_000;

/** `usualBase` is the family's default. Throws `mlx_unsupported` for a scaling that is not among `known`. */
export function readRope(settings: RopeFields, known: readonly RopeKind[], usualBase: number = BASE): Rope {
  const all = settings.rope_parameters ?? settings.rope_scaling ?? {};
  const isSplit =
    (all.full_attention ?? undefined) !== undefined || (all.sliding_attention ?? undefined) !== undefined;
  const parameters = isSplit ? (all.full_attention ?? {}) : all;
  const slidingBase = isSplit ? all.sliding_attention?.rope_theta : settings.rope_local_base_freq;
  const type = parameters.rope_type ?? parameters.type ?? "default";
  const kind = known.find((one) => one === (type === "su" ? "longrope" : type.toLowerCase()));
  if (kind === undefined) {
    throw new MlxError(
      "mlx_unsupported",
      `llama.cpp does not support rope scaling "${type}" for this type of model; it supports ${known.join(", ")}.`,
    );
  }
  return {
    kind,
    base: parameters.rope_theta ?? settings.rope_theta ?? usualBase,
    slidingBase: slidingBase ?? undefined,
    parameters,
  };
}

/** The keys of the bases and of the scalings `linear` and `yarn`; families handle the other scalings themselves. */
export function ropeKeys(rope: Rope): Entry[] {
  const { kind, base, slidingBase, parameters } = rope;
  const keys: Entry[] = [["rope.freq_base", float32(base)]];
  if (slidingBase !== undefined) keys.push(["rope.freq_base_swa", float32(slidingBase)]);
  if (kind !== "linear" && kind !== "yarn") return keys;
  keys.push(["rope.scaling.type", text(kind)], ["rope.scaling.factor", float32(required(rope, "factor"))]);
  if (kind === "linear") return keys;
  keys.push([
    "rope.scaling.original_context_length",
    uint32(required(rope, "original_max_position_embeddings")),
  ]);
  const more = {
    yarn_ext_factor: parameters.extrapolation_factor,
    yarn_attn_factor: parameters.attention_factor ?? parameters.attn_factor,
    yarn_beta_fast: parameters.beta_fast,
    yarn_beta_slow: parameters.beta_slow,
  };
  for (const [key, value] of Object.entries(more)) {
    if (value !== undefined && value !== null) keys.push([`rope.scaling.${key}`, float32(value)]);
  }
  return keys;
}

function required({ kind, parameters }: Rope, field: "factor" | "original_max_position_embeddings"): number {
  const value = parameters[field] ?? undefined;
  if (value === undefined)
    throw new MlxError("mlx_malformed", `config.json has rope scaling ${kind}, but no ${field}.`);
  return value;
}

/**
 * The divisors of Llama 3.1's frequencies: 1 for fast ones, the whole factor for slow ones, and a mixture in between. Computed
 * like LlamaModel.generate_extra_tensors in llama.cpp's conversion/llama.py, in single precision too.
 */
export function llama3Factors({ base, parameters }: Rope, headSize: number): Float32Array {
  const factor = parameters.factor ?? 8;
  const low = parameters.low_freq_factor ?? 1;
  const high = parameters.high_freq_factor ?? 4;
  const context = parameters.original_max_position_embeddings ?? 8192;
  return Float32Array.from({ length: headSize / 2 }, (_, pair) => {
    const frequency = Math.fround(1 / Math.fround(base ** Math.fround((2 * pair) / headSize)));
    const wavelength = Math.fround((2 * Math.PI) / frequency);
    if (wavelength < context / high) return 1;
    if (wavelength > context / low) return factor;
    const smooth = (context / wavelength - low) / (high - low);
    return 1 / ((1 - smooth) / factor + smooth);
  });
}

/**
 * The row order of queries and keys for llama.cpp's llama, which rotates neighbouring values as pairs, while these builds
 * pair value i with value i + half: row `h·d + 2j + k` was row `h·d + k·d/2 + j`.
 */
export function interleavedRows(heads: number, headSize: number): Uint32Array {
  const half = headSize / 2;
  return Uint32Array.from({ length: heads * headSize }, (_, row) => {
    const within = row % headSize;
    return row - within + (within % 2) * half + Math.floor(within / 2);
  });
}
