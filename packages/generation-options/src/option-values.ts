// The values of the options, as a program gives them. `pnpm reference` writes the members from the table, so that editors show
// what each one means.
import type { SamplerName } from "./samplers.ts";

/** Token ids, each with a number that is added to its logit; or pairs of a token id, or a text that stands for its tokens, and it. */
export type LogitBias = Record<string, number> | [number | string, number][];

export interface OptionValues {
  // <!-- generated: members of OptionValues -->

  /**
   * Higher values are more random; 0 always takes the likeliest token. A number of at least 0. Default: 1.
   */
  temperature: number;
  /**
   * Keeps the likeliest tokens whose probabilities add up to this; 1 keeps all. A number above 0 and at most
   * 1. Default: 1.
   */
  topP: number;
  /**
   * Keeps this many of the likeliest tokens; 0 and -1 keep all. An integer of at least 0, or -1; both 0 and
   * -1 turn it off. Default: 50.
   */
  topK: number;
  /**
   * Drops tokens less likely than this share of the likeliest one; 0 keeps all. A number from 0 to 1.
   * Default: 0.
   */
  minP: number;
  /** Values above 1 discourage recently used tokens; 1 is off. A number above 0. Default: 1. */
  repeatPenalty: number;
  /** How many tokens the penalties look back on. An integer from 0 to 4096. Default: 64. */
  repeatLastN: number;
  /** Subtracted once from the logit of every token that was used. A number from -2 to 2. Default: 0. */
  presencePenalty: number;
  /** Subtracted from a token's logit for each time it was used. A number from -2 to 2. Default: 0. */
  frequencyPenalty: number;
  /**
   * Maximum number of tokens per reply; -1 means no limit. 0 only computes the prompt. Default: until the
   * context is full, or four contexts.
   */
  maxTokens?: number;
  /** The reply ends before the first of these texts. Default: none. */
  stop: string[];
  /** The same seed and request give the same reply. -1 is a random seed. Default: random. */
  seed?: number;
  /**
   * Up to 4096 token ids, each with a number from -100 to 100 that is added to its logit; or pairs of a
   * token id, or a text whose tokens are meant, and such a number. -100 bans a token. Default: none.
   */
  logitBias?: LogitBias;
  /**
   * Keeps the tokens that are about as likely as expected, until their probabilities add up to this; 1 keeps
   * all. A number from 0 to 1. Default: 1.
   */
  typicalP: number;
  /**
   * Keeps tokens whose logits are at most this many standard deviations below the highest; 0 and -1 keep
   * all. A number of at least -1. Default: 0.
   */
  topNSigma: number;
  /**
   * XTC: how often all tokens of at least xtcThreshold but the least likely are left out; 0 is off. A number
   * from 0 to 1. Default: 0.
   */
  xtcProbability: number;
  /**
   * XTC: the probability from which tokens are left out; above 0.5, it is off. A number from 0 to 1.
   * Default: 0.1.
   */
  xtcThreshold: number;
  /**
   * How far the temperature may be from temperature: lower where the model is certain, higher where it is
   * not; 0 is off. A number of at least 0. Default: 0.
   */
  dynatempRange: number;
  /**
   * How the temperature follows the model's uncertainty; 1 is in proportion. A number of at least 0.
   * Default: 1.
   */
  dynatempExponent: number;
  /**
   * DRY: how strongly tokens that would go on with a repetition are discouraged; 0 is off. A number of at
   * least 0. Default: 0.
   */
  dryMultiplier: number;
  /** DRY: by which factor that grows with each repeated token. A number of at least 1. Default: 1.75. */
  dryBase: number;
  /** DRY: repetitions of up to this many tokens are free. An integer from 0 to 4096. Default: 2. */
  dryAllowedLength: number;
  /** DRY: how many tokens back it looks; 0 is off. An integer from 0 to 4096. Default: 64. */
  dryPenaltyLastN: number;
  /** DRY: texts across which nothing counts as a repetition. Default: newline, :, ", *. */
  drySequenceBreakers: string[];
  /**
   * 1 or 2: keeps the surprise of the text near mirostatTau, in place of all samplers but penalties, DRY and
   * temperature; 0 is off. An integer from 0 to 2. Default: 0.
   */
  mirostat: number;
  /** Mirostat: the target, in bits for each token. A number of at least 0. Default: 5. */
  mirostatTau: number;
  /** Mirostat: how fast it corrects itself. A number of at least 0. Default: 0.1. */
  mirostatEta: number;
  /**
   * Adaptive-p: prefers tokens whose probability is near this; below 0, it is off. A number from -1 to 1.
   * Default: -1.
   */
  adaptiveTarget: number;
  /** Adaptive-p: how slowly earlier tokens are forgotten. A number from 0 to 0.99. Default: 0.9. */
  adaptiveDecay: number;
  /**
   * The samplers in the order in which they are applied. One that is missing is off; adaptive_p is always
   * the last. Default: all, in this order.
   */
  samplers: SamplerName[];
  /**
   * Until the reply has this many tokens, neither the model nor a stop string ends it. An integer from 0 to
   * 2147483647. Default: 0.
   */
  minTokens: number;

  // <!-- end -->
}
