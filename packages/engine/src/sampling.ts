// How the next token is chosen, in the engine's own names, checked once here.
// The server's wire names (`repeat_penalty`, `max_tokens`, …) meet these in its to-generation.ts only.
import { z } from "zod";

/** Longest stop string; a longer one could hold back a whole reply. */
export const stopLengthMax = 1024;
/** Most stop strings of one request: each is looked for in every piece of text. */
export const stopsMax = 128;
/** Most entries of a logit bias; more than this is a vocabulary, not a bias. */
export const logitBiasMax = 4096;
/** `repeatLastN` looks back at most this far; the window is walked for each token. */
export const repeatLastNMax = 4096;

/** Most of the likeliest tokens that are told beside each token. */
export const logprobsMax = 20;

/** Seeds are 32 bits wide in the sampler; any safe integer is folded to that. */
const seedSchema = z.int();

/** Samplers compute in 32 bits: numbers beyond would become 0 or infinity there. */
const asFloatMax = 1e30;

export const Sampling = z
  .object({
    /** 0 is greedy and deterministic; higher is more random. */
    temperature: z.number().min(0).default(1),
    /** Keep the k likeliest tokens; 0 or -1 keeps all. */
    topK: z.int().min(-1).default(50),
    /** Keep the likeliest tokens whose probabilities add up to this; 1 keeps all. */
    topP: z.number().gt(0).max(1).default(1),
    /** Drop tokens less likely than this share of the likeliest one; 0 keeps all. */
    minP: z.number().min(0).max(1).default(0),
    /** Above 1 discourages tokens among the last `repeatLastN`; 1 is off. */
    repetitionPenalty: z
      .number()
      .min(1 / asFloatMax)
      .max(asFloatMax)
      .default(1),
    /** Tokens that the penalties look back at. */
    repeatLastN: z.int().min(0).max(repeatLastNMax).default(64),
    /** Subtracted once from tokens that occurred; 0 is off. */
    presencePenalty: z.number().min(-2).max(2).default(0),
    /** Subtracted per occurrence; 0 is off. */
    frequencyPenalty: z.number().min(-2).max(2).default(0),
    /** The same seed and request give the same text; random when absent. */
    seed: seedSchema.optional(),
    /** Token id to a number added to its logit, -100 to 100; -100 bans the token. */
    logitBias: z
      .record(z.string().regex(/^\d+$/), z.number().min(-100).max(100))
      .refine((bias) => Object.keys(bias).length <= logitBiasMax, `at most ${logitBiasMax} tokens`)
      .optional(),
  })
  .meta({ id: "Sampling" });
export type Sampling = z.infer<typeof Sampling>;

export const Limits = z
  .object({
    /** Most tokens to generate; up to the context's end when absent. */
    maxTokens: z.int().min(1).optional(),
    /** Texts that end the generation; they are never part of it. */
    stop: z.array(z.string().min(1).max(stopLengthMax)).max(stopsMax).default([]),
    /** Goes on past the model's own end token, for benchmarks. */
    ignoreEos: z.boolean().default(false),
    /** Starts with what earlier requests with the same beginning computed, and leaves it to later ones. */
    cachePrompt: z.boolean().default(true),
    /** Tells for each token how likely it was, and as many of the likeliest in its place. Default: nothing of it. */
    logprobs: z.int().min(0).max(logprobsMax).optional(),
  })
  .meta({ id: "Limits" });
export type Limits = z.infer<typeof Limits>;
