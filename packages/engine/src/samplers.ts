// The samplers beyond the usual ones, and the order of all of them; each is off by default.
import { z } from "zod";

/** Maximum number of tokens that a sampler looks back; each sampled token walks them. */
export const repeatLastNMax = 4096;

/** Maximum number of DRY's breakers and their length in UTF-16 units: each is searched for in every piece of text. */
export const dryBreakersMax = 32;
export const dryBreakerLengthMax = 64;

/** Samplers compute in 32 bits, where numbers outside these bounds would become 0 or infinity. */
export const asFloatMax = 1e30;

export const SamplerName = z
  .enum([
    "penalties",
    "dry",
    "top_n_sigma",
    "top_k",
    "typical_p",
    "top_p",
    "min_p",
    "xtc",
    "temperature",
    "adaptive_p",
  ])
  .meta({ id: "SamplerName" });
export type SamplerName = z.infer<typeof SamplerName>;

/** llama.cpp's letters. */
const letters: Readonly<Record<SamplerName, string>> = {
  penalties: "e",
  dry: "d",
  top_n_sigma: "s",
  top_k: "k",
  typical_p: "y",
  top_p: "p",
  min_p: "m",
  xtc: "x",
  temperature: "t",
  adaptive_p: "a",
};

/** All samplers, in the order that they have by default. */
export const usualSamplers: readonly SamplerName[] = SamplerName.options;

/** The order as the native engine takes it. */
export function lettersOf(samplers: readonly SamplerName[]): string {
  return samplers.map((name) => letters[name]).join("");
}

const positive = z.number().min(0).max(asFloatMax);

export const samplers = {
  /** Keeps the tokens that are about as likely as expected, until their probabilities add up to this; 1, the default, keeps all. */
  typicalP: z.number().min(0).max(1).default(1),
  /** Keeps tokens whose logits are at most this many standard deviations below the highest; 0, the default, and -1 keep all. */
  topNSigma: z.number().min(-1).max(asFloatMax).default(0),
  /** XTC: the chance that all tokens of at least `xtcThreshold` but the least likely are left out; 0, the default, is off. */
  xtcProbability: z.number().min(0).max(1).default(0),
  /** The probability from which XTC leaves tokens out; above 0.5, it is off. Default 0.1. */
  xtcThreshold: z.number().min(0).max(1).default(0.1),
  /**
   * How far the temperature may be from `temperature`: lower where the model is certain, higher where it is not. 0, the default, is
   * off.
   */
  dynatempRange: positive.default(0),
  /** How the temperature follows the model's uncertainty (entropy); 1, the default, is in proportion. */
  dynatempExponent: positive.default(1),
  /** DRY: how strongly tokens that would go on with a repetition are discouraged; 0, the default, is off. */
  dryMultiplier: positive.default(0),
  /** DRY: by which factor that grows with each repeated token. Default 1.75. */
  dryBase: z.number().min(1).max(asFloatMax).default(1.75),
  /** DRY: repetitions of up to this many tokens are free. Default 2. */
  dryAllowedLength: z.int().min(0).max(repeatLastNMax).default(2),
  /** DRY: how many tokens back it looks; 0 is off. Default 64. */
  dryPenaltyLastN: z.int().min(0).max(repeatLastNMax).default(64),
  /** DRY: texts across which nothing counts as a repetition. Default: newline, colon, double quote and asterisk. */
  drySequenceBreakers: z
    .array(z.string().min(1).max(dryBreakerLengthMax))
    .max(dryBreakersMax)
    .default(["\n", ":", '"', "*"]),
  /**
   * Mirostat, version 1 or 2: keeps the surprise of the text near `mirostatTau`. It takes the place of all samplers but penalties, DRY
   * and temperature. 0, the default, is off.
   */
  mirostat: z.int().min(0).max(2).default(0),
  /** Mirostat: the target, in bits for each token. Default 5. */
  mirostatTau: positive.default(5),
  /** Mirostat: how fast it corrects itself. Default 0.1. */
  mirostatEta: positive.default(0.1),
  /** Adaptive-p: prefers tokens whose probability is near this, 0 to 1. -1, the default, is off. */
  adaptiveTarget: z.number().min(-1).max(1).default(-1),
  /** Adaptive-p: how slowly earlier tokens are forgotten, 0 to 0.99. Default 0.9. */
  adaptiveDecay: z.number().min(0).max(0.99).default(0.9),
  /** The samplers in the order in which they are applied. One that is missing is off; adaptive-p is always the last. Default: all. */
  samplers: z
    .array(SamplerName)
    .max(usualSamplers.length)
    .refine((names) => new Set(names).size === names.length, "must name each sampler once")
    .default([...usualSamplers]),
};
