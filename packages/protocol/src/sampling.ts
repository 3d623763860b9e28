// The sampling fields of a request and their rules. Every generating endpoint's schema spreads `samplingFields`.
import { z } from "zod";

import { optionalField } from "./absent.ts";
import { arrayOf, hasAtMost, inBounds } from "./in-bounds.ts";

/** Most tokens that the repetition penalty may look back on: the window is walked for each token. */
export const repeatLastNMax = 4_096;

/** Most entries of `logit_bias`: far above any real use, low enough that each token's sampling stays cheap. */
export const logitBiasMax = 4_096;

/** Most stop strings, several times what agents send: each one is searched for in every piece of text. */
export const stopsMax = 128;

/** Most UTF-16 units of one stop string: this much text may have to be held back while streaming. */
export const stopLengthMax = 1_024;

const rules = {
  temperature: "temperature must be a number of at least 0",
  top_p: "top_p must be a number from 0 to 1",
  top_k: "top_k must be an integer of at least 0, or -1; both 0 and -1 turn it off",
  min_p: "min_p must be a number from 0 to 1",
  repeat_last_n: `repeat_last_n must be an integer from 0 to ${repeatLastNMax}`,
  seed: "seed must be an integer of at most 64 bits",
  logit_bias: `logit_bias must be an object of at most ${logitBiasMax} token ids, each with a number from -100 to 100`,
  stop: `stop must be a string or an array of at most ${stopsMax} of them, each of at most ${stopLengthMax} characters`,
};

/** Samplers compute in 32 bits: numbers beyond would become 0 or infinity there. */
function isSingle(value: number): boolean {
  return value >= 1e-30 && value <= 1e30;
}

function penaltyFactor(name: string, description: string) {
  const rule = `${name} must be a number above 0`;
  return optionalField(z.number(rule).gt(0, rule).refine(isSingle, `${name} must be from 1e-30 to 1e30`), {
    description,
    default: 1,
  });
}

function penaltyOffset(name: string, description: string) {
  const rule = `${name} must be a number from -2 to 2`;
  return optionalField(z.number(rule).min(-2, rule).max(2, rule), { description, default: 0 });
}

/** A limit of tokens by its wire name; -1 is no limit. */
export function tokenLimit(name: string, description: string) {
  const rule = `${name} must be an integer of at least 1, or -1 for no limit`;
  return optionalField(
    z
      .int(rule)
      .min(-1, rule)
      .refine((value) => value !== 0, rule),
    { description },
  );
}

const stopString = z.string(rules.stop).max(stopLengthMax, rules.stop);

/** Programs write seeds of 64 bits; those beyond 2^53 come as the nearest number that JSON's readers have. */
const seedMax = 2 ** 64;

/** A token id as a JSON key: a whole number without sign or leading zeros. */
const tokenIdKey = z.string().regex(/^(?:0|[1-9]\d{0,8})$/);

/**
 * The fields, by their wire names. Absent means the default; `top_k`'s default depends on the deployment variant.
 * `repeat_penalty` and `repetition_penalty` are one thing (`refinePenalties` keeps them the same), and
 * `max_completion_tokens` wins over `max_tokens`.
 */
export const samplingFields = {
  temperature: optionalField(z.number(rules.temperature).min(0, rules.temperature), {
    description: "Higher is more random; 0 always takes the likeliest token.",
    default: 1,
  }),
  top_p: optionalField(z.number(rules.top_p).min(0, rules.top_p).max(1, rules.top_p), {
    description:
      "Keeps the likeliest tokens whose probabilities add up to this; 1 keeps all, and 0 the likeliest one.",
    default: 1,
  }),
  top_k: optionalField(z.int(rules.top_k).min(-1, rules.top_k), {
    description:
      "Keeps so many of the likeliest tokens; 0 and -1 keep all. The server's variant has the default.",
  }),
  min_p: optionalField(z.number(rules.min_p).min(0, rules.min_p).max(1, rules.min_p), {
    description: "Drops tokens less likely than this share of the likeliest one; 0 keeps all.",
    default: 0,
  }),
  repeat_penalty: penaltyFactor(
    "repeat_penalty",
    "Above 1 discourages the tokens that were used last; 1 is off.",
  ),
  repetition_penalty: penaltyFactor("repetition_penalty", "Another name of repeat_penalty."),
  repeat_last_n: optionalField(
    z.int(rules.repeat_last_n).min(0, rules.repeat_last_n).max(repeatLastNMax, rules.repeat_last_n),
    { description: "How many tokens the penalties look back on.", default: 64 },
  ),
  presence_penalty: penaltyOffset(
    "presence_penalty",
    "Taken once from the logit of every token that was used.",
  ),
  frequency_penalty: penaltyOffset(
    "frequency_penalty",
    "Taken from a token's logit for each time it was used.",
  ),
  max_tokens: tokenLimit(
    "max_tokens",
    "Most tokens of a reply, at least 1; -1 is no limit, which is the default.",
  ),
  max_completion_tokens: tokenLimit(
    "max_completion_tokens",
    "Another name of max_tokens, which wins over it.",
  ),
  stop: optionalField(z.union([stopString, arrayOf(stopString, rules.stop, { max: stopsMax })], rules.stop), {
    description: "A reply ends before the first of these texts; the empty one is none.",
  }),
  seed: optionalField(
    z
      .number(rules.seed)
      .min(-seedMax, rules.seed)
      .max(seedMax, rules.seed)
      .refine((value) => Number.isInteger(value), rules.seed)
      .meta({ type: "integer" }),
    {
      description: "The same seed and request give the same reply; random where it is absent.",
    },
  ),
  logit_bias: optionalField(
    inBounds(
      z.record(
        tokenIdKey,
        z.number(rules.logit_bias).min(-100, rules.logit_bias).max(100, rules.logit_bias),
        rules.logit_bias,
      ),
      hasAtMost(logitBiasMax),
      rules.logit_bias,
    ),
    { description: `Up to ${logitBiasMax} token ids, each with a number that is added to its logit.` },
  ),
};

/** The checked fields. */
export type SamplingRequest = z.infer<z.ZodObject<typeof samplingFields>>;

/** Adds an issue when both names of the repetition penalty are given with different values. */
export function refinePenalties(
  request: { repeat_penalty?: number | undefined; repetition_penalty?: number | undefined },
  context: z.RefinementCtx,
): void {
  const { repeat_penalty, repetition_penalty } = request;
  if (
    repeat_penalty === undefined ||
    repetition_penalty === undefined ||
    repeat_penalty === repetition_penalty
  )
    return;
  context.addIssue({
    code: "custom",
    path: ["repetition_penalty"],
    message:
      "repetition_penalty and repeat_penalty are two names of one setting: give one of them, or the same value",
  });
}
