// The generation options as fields of a request, made from their table, and their rules.
import {
  generationOptions,
  isNumber,
  numberRule,
  optionNames,
  type GenerationOption,
  type NumberName,
  type NumberOption,
  type OptionTable,
  type TextsOption,
} from "@ingle/generation-options";
import { z } from "zod";

import { optionalField, refuseField } from "./field.ts";
import { logitBias } from "./logit-bias.ts";
import { tokenLimit } from "./request-fields.ts";
import { samplersField } from "./samplers.ts";
import { boundedArray } from "./size-precheck.ts";

const { maxTokens, stop, seed, drySequenceBreakers } = generationOptions;

function description({ help, fieldNote }: GenerationOption): string {
  return fieldNote === undefined ? help : `${help} ${fieldNote}`;
}

/** The field of a number, under another name if an API has one. */
function numberField(option: NumberOption, name: string = option.field) {
  const { kind, above, min, max, fieldMin, default: usual, isPerVariant = false } = option;
  const rule = `${name} must be ${numberRule(option)}`;
  const outside = above === undefined || min === undefined ? rule : `${name} must be from 1e-30 to 1e30`;
  const least = fieldMin ?? min;
  let schema: z.ZodNumber = kind === "number" ? z.number(rule) : z.int(rule);
  if (above !== undefined && fieldMin === undefined) schema = schema.gt(above, rule);
  if (least !== undefined) schema = schema.min(least, outside);
  if (max !== undefined) schema = schema.max(max, outside);
  return optionalField(schema, description(option), isPerVariant ? undefined : usual);
}
type NumberField = ReturnType<typeof numberField>;

/** A field that counts tokens to look back on, in an API where -1 stands for the largest window. */
export function windowField(option: NumberOption, name?: string) {
  return numberField({ ...option, fieldMin: -1, fieldNote: `-1 means ${option.max}.` }, name);
}

type Alias<Option> = Option extends { alias: infer Name extends string } ? Name : never;
type NumberFields = { [Name in NumberName as OptionTable[Name]["field"]]: NumberField } & {
  [Name in NumberName as Alias<OptionTable[Name]>]: NumberField;
};

function numberFields(): NumberFields {
  const fields: Record<string, NumberField> = {};
  for (const name of optionNames.filter(isNumber)) {
    const option: NumberOption = generationOptions[name];
    const { field, alias } = option;
    fields[field] = numberField(option);
    if (alias !== undefined)
      fields[alias] = numberField({ ...option, help: `Another name for ${field}.` }, alias);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type is computed from the table as the value is
  return fields as NumberFields;
}

function textRule({ field, rule }: TextsOption): string {
  return `${field} must be ${rule}`;
}

const stopRule = textRule(stop);
const stopString = z.string(stopRule).max(stop.lengthMax, stopRule);
const breakersRule = textRule(drySequenceBreakers);
const breaker = z.string(breakersRule).min(1, breakersRule).max(drySequenceBreakers.lengthMax, breakersRule);

/** Programs send 64-bit seeds; those beyond 2^53 arrive as the nearest number that JSON parsers have. */
const seedMax = 2 ** 64;
const seedRule = `${seed.field} must be ${seed.rule}`;

/**
 * The fields by their wire names. An absent field means the default; `top_k`'s default depends on the server's variant.
 * `repeat_penalty` and `repetition_penalty` are the same setting (see `refineSampling`), and `max_completion_tokens` takes
 * precedence over `max_tokens`.
 */
export const samplingFields = {
  ...numberFields(),
  [maxTokens.field]: tokenLimit(maxTokens.field, description(maxTokens)),
  [maxTokens.alias]: tokenLimit(
    maxTokens.alias,
    `Another name for ${maxTokens.field}; takes precedence over it.`,
  ),
  [stop.field]: optionalField(
    z.union([stopString, boundedArray(stopString, stopRule, { max: stop.max })], stopRule),
    description(stop),
  ),
  [seed.field]: optionalField(
    z
      .number(seedRule)
      .min(-seedMax, seedRule)
      .max(seedMax, seedRule)
      .refine((value) => Number.isInteger(value), seedRule)
      .meta({ type: "integer" }),
    description(seed),
  ),
  [generationOptions.logitBias.field]: optionalField(logitBias, description(generationOptions.logitBias)),
  [drySequenceBreakers.field]: optionalField(
    boundedArray(breaker, breakersRule, { max: drySequenceBreakers.max }),
    description(drySequenceBreakers),
    drySequenceBreakers.default,
  ),
  [generationOptions.samplers.field]: samplersField,
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

type ContradictedField = "repeat_penalty" | "repetition_penalty" | "mirostat" | "adaptive_target";

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
