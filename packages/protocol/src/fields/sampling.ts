// The sampling fields of every request that generates, and their rules.
import { z } from "zod";

import { integerField, optionalField, refuseField } from "./field.ts";
import { logitBias, logitBiasMax } from "./logit-bias.ts";
import { tokenLimit } from "./request-fields.ts";
import { numberFrom, repeatLastNMax, samplerFields } from "./samplers.ts";
import { arrayOf } from "./size-precheck.ts";

/** Maximum number of stop strings, several times what agents send: each is searched for in every piece of text. */
export const stopsMax = 128;

/** Maximum length of one stop string, in UTF-16 units: this much text may have to be held back while streaming. */
export const stopLengthMax = 1_024;

const topKRule = "top_k must be an integer of at least 0, or -1; both 0 and -1 turn it off";
const seedRule = "seed must be an integer of at most 64 bits";
const stopRule = `stop must be a string or an array of at most ${stopsMax} of them, each of at most ${stopLengthMax} characters`;
const temperatureRule = "temperature must be a number of at least 0";

/** Samplers compute in 32 bits, where numbers outside these bounds would become 0 or infinity. */
function isSingle(value: number): boolean {
  return value >= 1e-30 && value <= 1e30;
}

function penaltyFactor(name: string, description: string) {
  const rule = `${name} must be a number above 0`;
  const factor = z.number(rule).gt(0, rule).refine(isSingle, `${name} must be from 1e-30 to 1e30`);
  return optionalField(factor, description, 1);
}

function penaltyOffset(name: string, description: string) {
  return optionalField(numberFrom(name, -2, 2), description, 0);
}

const stopString = z.string(stopRule).max(stopLengthMax, stopRule);

/** Programs send 64-bit seeds; those beyond 2^53 arrive as the nearest number that JSON parsers have. */
const seedMax = 2 ** 64;

/**
 * The fields by their wire names. An absent field means the default; `top_k`'s default depends on the server's variant.
 * `repeat_penalty` and `repetition_penalty` are the same setting (see `refineSampling`), and `max_completion_tokens` takes
 * precedence over `max_tokens`.
 */
export const samplingFields = {
  temperature: optionalField(
    z.number(temperatureRule).min(0, temperatureRule),
    "Higher values are more random; 0 always takes the likeliest token.",
    1,
  ),
  top_p: optionalField(
    numberFrom("top_p", 0, 1),
    "Keeps the likeliest tokens whose probabilities add up to this; 1 keeps all, and 0 only the likeliest.",
    1,
  ),
  top_k: optionalField(
    z.int(topKRule).min(-1, topKRule),
    "Keeps this many of the likeliest tokens; 0 and -1 keep all. The default depends on the server's variant.",
  ),
  min_p: optionalField(
    numberFrom("min_p", 0, 1),
    "Drops tokens less likely than this share of the likeliest one; 0 keeps all.",
    0,
  ),
  repeat_penalty: penaltyFactor(
    "repeat_penalty",
    "Values above 1 discourage recently used tokens; 1 is off.",
  ),
  repetition_penalty: penaltyFactor("repetition_penalty", "Another name for repeat_penalty."),
  repeat_last_n: optionalField(
    integerField("repeat_last_n", { min: 0, max: repeatLastNMax }),
    "How many tokens the penalties look back on.",
    64,
  ),
  presence_penalty: penaltyOffset(
    "presence_penalty",
    "Subtracted once from the logit of every token that was used.",
  ),
  frequency_penalty: penaltyOffset(
    "frequency_penalty",
    "Subtracted from a token's logit for each time it was used.",
  ),
  max_tokens: tokenLimit(
    "max_tokens",
    "Maximum number of tokens per reply, at least 1; -1, the default, means no limit.",
  ),
  max_completion_tokens: tokenLimit(
    "max_completion_tokens",
    "Another name for max_tokens; takes precedence over it.",
  ),
  stop: optionalField(
    z.union([stopString, arrayOf(stopString, stopRule, { max: stopsMax })], stopRule),
    "The reply ends before the first of these texts; the empty string means none.",
  ),
  seed: optionalField(
    z
      .number(seedRule)
      .min(-seedMax, seedRule)
      .max(seedMax, seedRule)
      .refine((value) => Number.isInteger(value), seedRule)
      .meta({ type: "integer" }),
    "The same seed and request give the same reply; random if absent or -1.",
  ),
  logit_bias: optionalField(
    logitBias,
    `Up to ${logitBiasMax} token ids, each with a number that is added to its logit, or false, which bans it; or pairs of a token id, or a text whose tokens are meant, and the same.`,
  ),
  ...samplerFields,
};

/** The checked fields. */
export type SamplingRequest = z.infer<z.ZodObject<typeof samplingFields>>;

/** A sampler that the server does not have: only the values that turn it off are accepted. */
export function absentSampler(name: string, ...off: readonly [number | boolean, ...(number | boolean)[]]) {
  const rule = `${name} is not supported; leave it out`;
  const values = off.join(" or ");
  return optionalField(
    z.literal(off, rule),
    `Refused unless it is ${values}: this sampler is not supported.`,
  );
}

/** Adds an issue for every sampling field that contradicts another one. */
export function refineSampling(
  request: Partial<Pick<SamplingRequest, ContradictedField>>,
  context: z.RefinementCtx,
): void {
  const {
    repeat_penalty: one,
    repetition_penalty: other,
    mirostat = 0,
    adaptive_target: target = -1,
  } = request;
  const refuse = (field: ContradictedField, message: string): void => refuseField(context, field, message);
  if (one !== undefined && other !== undefined && one !== other)
    refuse(
      "repetition_penalty",
      "repetition_penalty and repeat_penalty are two names of one setting: give one of them, or the same value",
    );
  if (mirostat > 0 && target >= 0)
    refuse(
      "adaptive_target",
      "adaptive_target and mirostat exclude each other: both decide how likely tokens are",
    );
}

type ContradictedField = "repeat_penalty" | "repetition_penalty" | "mirostat" | "adaptive_target";
