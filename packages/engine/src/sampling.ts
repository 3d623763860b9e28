// Sampling options and limits of a generation.
import { z } from "zod";
import { LogitBias } from "./logit-bias.ts";
import { asFloatMax, repeatLastNMax, samplers } from "./samplers.ts";

/** Maximum length of a stop string, in UTF-16 units; a longer one could hold back a whole reply. */
export const stopLengthMax = 1024;
/** Maximum number of stop strings per request: each is searched for in every piece of text. */
export const stopsMax = 128;

/** More than any context holds; the engine counts tokens in 32 bits. */
const tokensMax = 0x7fff_ffff;

/** Maximum number of alternatives reported for each token. */
const logprobsMax = 20;

/**
 * Maximum number of log probabilities of a prompt: its tokens, each with its alternatives. They are kept until the reply ends, and take
 * about 250 bytes each.
 */
export const promptLogprobsMax = 262_144;

export const Sampling = z
  .object({
    /** Higher is more random; 0 always takes the likeliest token. Default 1. */
    temperature: z.number().min(0).default(1),
    /** Keeps this many of the likeliest tokens; 0 and -1 keep all. Default 50. */
    topK: z.int().min(-1).default(50),
    /** Keeps the likeliest tokens whose probabilities add up to this; 1, the default, keeps all. */
    topP: z.number().gt(0).max(1).default(1),
    /** Drops tokens less likely than this share of the likeliest one; 0, the default, keeps all. */
    minP: z.number().min(0).max(1).default(0),
    /** Values above 1 discourage the last `repeatLastN` tokens; 1, the default, is off. */
    repetitionPenalty: z
      .number()
      .min(1 / asFloatMax)
      .max(asFloatMax)
      .default(1),
    /** How many tokens back the penalties look. Default 64. */
    repeatLastN: z.int().min(0).max(repeatLastNMax).default(64),
    /** Subtracted once from the logits of tokens that occurred, -2 to 2; 0, the default, is off. */
    presencePenalty: z.number().min(-2).max(2).default(0),
    /** Subtracted for each occurrence, -2 to 2; 0, the default, is off. */
    frequencyPenalty: z.number().min(-2).max(2).default(0),
    /**
     * The same seed and request give the same text; -1 is a random one. Default: random. The sampler uses 32 bits, folded from any safe
     * integer.
     */
    seed: z.int().optional(),
    /**
     * Token ids, each with a number that is added to its logit, -100 to 100; -100 bans the token. Or pairs of a token id, or a text that
     * stands for each of its tokens, and such a number. Default: none.
     */
    logitBias: LogitBias.optional(),
    ...samplers,
  })
  .meta({ id: "Sampling" });
export type Sampling = z.infer<typeof Sampling>;

export const Limits = z
  .object({
    /** Maximum number of tokens to generate; 0 only computes the prompt. -1, the default: until the context is full. */
    maxTokens: z.int().min(-1).optional(),
    /** The reply has at least this many tokens: until then, the model cannot end it, and stop strings do not. Default 0. */
    minTokens: z.int().min(0).max(tokensMax).default(0),
    /** Texts that end the reply, which never contains them. Default: none. */
    stop: z.array(z.string().min(1).max(stopLengthMax)).max(stopsMax).default([]),
    /** Continues after the model's end-of-text token, for benchmarks. Default false. */
    ignoreEos: z.boolean().default(false),
    /**
     * What the reply will probably repeat, such as the file that it changes: its tokens are drafted and verified several at a time,
     * which is faster where the reply repeats it and never changes the reply. Default: none. Ignored with a draft model, and for
     * recurrent and hybrid models; of a longer one, the first 1,048,576 characters are used.
     */
    prediction: z.string().default(""),
    /** Reuses the computed prefix of earlier requests, and keeps this prompt for later ones. Default true. */
    cachePrompt: z.boolean().default(true),
    /**
     * The slot of `model.slots` that names the request's text once it has ended, below `parallel`. Default: the idle slot whose last
     * prompt is most similar, or the one that was used longest ago.
     */
    idSlot: z.int().min(0).optional(),
    /** Returns the log probability of each token and of this many alternatives. Default: none. */
    logprobs: z.int().min(0).max(logprobsMax).optional(),
    /**
     * Returns the log probability of each token of the prompt and of this many alternatives, at most 262,144 in all. Not for prompts with
     * images. The prompt is computed without the prefix cache, a few tokens at a time. With `logprobs`, the log probabilities of the reply
     * then include the token that ends it. Default: none.
     */
    promptLogprobs: z.int().min(0).max(logprobsMax).optional(),
    /** Yields a chunk with `prompt` whenever a part of the prompt is computed. Default false. */
    reportsPrompt: z.boolean().default(false),
  })
  .meta({ id: "Limits" });
export type Limits = z.infer<typeof Limits>;

/** Adds an issue for each option that contradicts another one. */
export function refineSampling(
  { mirostat, adaptiveTarget, minTokens, maxTokens }: Sampling & Limits,
  context: z.RefinementCtx,
): void {
  const refuse = (option: string, message: string): void =>
    context.addIssue({ code: "custom", path: [option], message });
  if (mirostat > 0 && adaptiveTarget >= 0)
    refuse("adaptiveTarget", "adaptive-p and mirostat exclude each other: both decide how likely tokens are");
  if (maxTokens !== undefined && maxTokens >= 0 && minTokens > maxTokens)
    refuse("minTokens", "must be at most maxTokens");
}
