// The samplers beyond the usual ones, under llama-server's names, and their order. Each is off by default.
import { z } from "zod";

import { integerField, optionalField } from "./field.ts";
import { arrayOf } from "./size-precheck.ts";

/** Maximum number of tokens that penalties and DRY look back on: each sampled token walks this window. */
export const repeatLastNMax = 4_096;

/** Maximum number of DRY's breakers and of their UTF-16 units: each is searched for in every piece of text. */
export const dryBreakersMax = 32;
export const dryBreakerLengthMax = 64;

/** Samplers compute in 32 bits. */
const numberMax = 1e30;

export function numberFrom(name: string, min: number, max: number) {
  const rule = `${name} must be a number ${max === numberMax ? `of at least ${min}` : `from ${min} to ${max}`}`;
  return z.number(rule).min(min, rule).max(max, rule);
}

function numberField(name: string, [min, max]: [number, number?], byDefault: number, description: string) {
  return optionalField(numberFrom(name, min, max ?? numberMax), description, byDefault);
}

/** In their usual order. */
const names = [
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
] as const;
type Name = (typeof names)[number];

/** llama-server's letters, for an order that is one string. */
const byLetter: Readonly<Record<string, Name>> = {
  e: "penalties",
  d: "dry",
  s: "top_n_sigma",
  k: "top_k",
  y: "typical_p",
  p: "top_p",
  m: "min_p",
  x: "xtc",
  t: "temperature",
  a: "adaptive_p",
};

/** Other names that llama-server knows, without lines between the words. */
const aliases: Readonly<Record<string, Name>> = {
  typp: "typical_p",
  typ: "typical_p",
  nucleus: "top_p",
  temp: "temperature",
};

function withoutLines(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}

const byName = new Map<string, Name>([
  ...names.map((name) => [withoutLines(name), name] as const),
  ...Object.entries(aliases),
]);

const samplersRule = `samplers must be an array of ${names.join(", ")}, each at most once, or a string of the letters ${Object.keys(byLetter).join("")}`;

function toNames(given: string | string[], context: z.RefinementCtx): Name[] {
  const found = typeof given === "string" ? Array.from(given, (letter) => byLetter[letter]) : [];
  if (Array.isArray(given)) found.push(...given.map((name) => byName.get(withoutLines(name))));
  const known = found.filter((name) => name !== undefined);
  if (known.length === found.length && new Set(known).size === known.length) return known;
  context.addIssue({ code: "custom", message: samplersRule });
  return z.NEVER;
}

const samplers = z
  .union(
    [
      z.string().max(names.length, samplersRule),
      arrayOf(z.string(samplersRule).max(32, samplersRule), samplersRule, { max: names.length }),
    ],
    samplersRule,
  )
  .transform(toNames);

const breakersRule = `dry_sequence_breakers must be an array of at most ${dryBreakersMax} texts of 1 to ${dryBreakerLengthMax} characters`;
const breaker = z.string(breakersRule).min(1, breakersRule).max(dryBreakerLengthMax, breakersRule);

/** An absent field means the default. */
export const samplerFields = {
  typical_p: numberField(
    "typical_p",
    [0, 1],
    1,
    "Keeps the tokens that are about as likely as expected, until their probabilities add up to this; 1 keeps all.",
  ),
  top_n_sigma: numberField(
    "top_n_sigma",
    [-1],
    0,
    "Keeps tokens whose logits are at most this many standard deviations below the highest; 0 and -1 keep all.",
  ),
  xtc_probability: numberField(
    "xtc_probability",
    [0, 1],
    0,
    "XTC: how often all tokens of at least xtc_threshold but the least likely are left out; 0 is off.",
  ),
  xtc_threshold: numberField(
    "xtc_threshold",
    [0, 1],
    0.1,
    "XTC: the probability from which tokens are left out; above 0.5, it is off.",
  ),
  dynatemp_range: numberField(
    "dynatemp_range",
    [0],
    0,
    "How far the temperature may be from temperature: lower where the model is certain, higher where it is not; 0 is off.",
  ),
  dynatemp_exponent: numberField(
    "dynatemp_exponent",
    [0],
    1,
    "How the temperature follows the model's uncertainty; 1 is in proportion.",
  ),
  dry_multiplier: numberField(
    "dry_multiplier",
    [0],
    0,
    "DRY: how strongly tokens that would go on with a repetition are discouraged; 0 is off.",
  ),
  dry_base: numberField("dry_base", [1], 1.75, "DRY: by which factor that grows with each repeated token."),
  dry_allowed_length: optionalField(
    integerField("dry_allowed_length", { min: 0, max: repeatLastNMax }),
    "DRY: repetitions of up to this many tokens are free.",
    2,
  ),
  dry_penalty_last_n: optionalField(
    integerField("dry_penalty_last_n", { min: -1, max: repeatLastNMax }),
    `DRY: how many tokens back it looks; 0 is off, and -1 means ${repeatLastNMax}.`,
    64,
  ),
  dry_sequence_breakers: optionalField(
    arrayOf(breaker, breakersRule, { max: dryBreakersMax }),
    "DRY: texts across which nothing counts as a repetition.",
    ["\n", ":", '"', "*"],
  ),
  mirostat: optionalField(
    integerField("mirostat", { min: 0, max: 2 }),
    "1 or 2: keeps the surprise of the text near mirostat_tau, in place of all samplers but penalties, DRY and temperature; 0 is off.",
    0,
  ),
  mirostat_tau: numberField("mirostat_tau", [0], 5, "Mirostat: the target, in bits for each token."),
  mirostat_eta: numberField("mirostat_eta", [0], 0.1, "Mirostat: how fast it corrects itself."),
  adaptive_target: numberField(
    "adaptive_target",
    [-1, 1],
    -1,
    "Adaptive-p: prefers tokens whose probability is near this; below 0, it is off.",
  ),
  adaptive_decay: numberField(
    "adaptive_decay",
    [0, 0.99],
    0.9,
    "Adaptive-p: how slowly earlier tokens are forgotten.",
  ),
  samplers: optionalField(
    samplers,
    "The samplers in the order in which they are applied, by name or as a string of llama-server's letters. One that is missing is off; adaptive_p is always the last.",
    names,
  ),
  min_tokens: optionalField(
    integerField("min_tokens", { min: 0, max: 0x7fff_ffff }),
    "Until the reply has this many tokens, neither the model nor a stop string ends it.",
    0,
  ),
};
