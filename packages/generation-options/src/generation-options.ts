// The table of generation options: one row for each, by its name in the library. Schemas, conversions, flags and the tables of the
// documentation are made from it. A sampling option also has a member in the engine's C++ struct, whose row has the same name.
import { singleMax, singleMin, type GenerationOption } from "./option.ts";
import { samplerNames } from "./samplers.ts";

/** Maximum number of tokens that a sampler looks back on: each sampled token walks them. */
const windowMax = 4_096;

/** More than any context holds; the engine counts tokens in 32 bits. */
export const tokensMax = 0x7fff_ffff;

/** Options that most programs know. */
export const commonOptions = {
  temperature: {
    field: "temperature",
    kind: "number",
    min: 0,
    default: 1,
    help: "Higher values are more random; 0 always takes the likeliest token.",
    details: "See [reproducibility](http-api.md#reproducibility).",
    ggufKey: "temp",
    flag: "--temp <number>",
  },
  topP: {
    field: "top_p",
    kind: "number",
    above: 0,
    fieldMin: 0,
    max: 1,
    default: 1,
    help: "Keeps the likeliest tokens whose probabilities add up to this; 1 keeps all.",
    fieldNote: "0 keeps only the likeliest.",
    ggufKey: "top_p",
    flag: "--top-p <number>",
  },
  topK: {
    field: "top_k",
    kind: "integer",
    min: -1,
    default: 50,
    isPerVariant: true,
    rule: "an integer of at least 0, or -1; both 0 and -1 turn it off",
    help: "Keeps this many of the likeliest tokens; 0 and -1 keep all.",
    fieldNote: "The default depends on the server's variant.",
    ggufKey: "top_k",
    flag: "--top-k <number>",
  },
  minP: {
    field: "min_p",
    kind: "number",
    min: 0,
    max: 1,
    default: 0,
    help: "Drops tokens less likely than this share of the likeliest one; 0 keeps all.",
    ggufKey: "min_p",
    flag: "--min-p <number>",
  },
  repeatPenalty: {
    field: "repeat_penalty",
    alias: "repetition_penalty",
    kind: "number",
    above: 0,
    min: singleMin,
    max: singleMax,
    default: 1,
    help: "Values above 1 discourage recently used tokens; 1 is off.",
    ggufKey: "penalty_repeat",
  },
  repeatLastN: {
    field: "repeat_last_n",
    kind: "integer",
    min: 0,
    max: windowMax,
    isWindow: true,
    default: 64,
    help: "How many tokens the penalties look back on.",
    ggufKey: "penalty_last_n",
  },
  presencePenalty: {
    field: "presence_penalty",
    kind: "number",
    min: -2,
    max: 2,
    default: 0,
    help: "Subtracted once from the logit of every token that was used.",
  },
  frequencyPenalty: {
    field: "frequency_penalty",
    kind: "number",
    min: -2,
    max: 2,
    default: 0,
    help: "Subtracted from a token's logit for each time it was used.",
  },
  maxTokens: {
    field: "max_tokens",
    alias: "max_completion_tokens",
    kind: "limit",
    rule: "an integer of at least 1, or -1 for no limit",
    defaultText: "until the context is full, or [four contexts](cli.md#long-chats)",
    help: "Maximum number of tokens per reply; -1 means no limit.",
    libraryNote: "0 only computes the prompt.",
    flag: "-n, --predict <tokens>",
  },
  stop: {
    field: "stop",
    kind: "stops",
    max: 128,
    lengthMax: 1_024,
    default: [],
    rule: "a string or an array of at most 128 of them, each of at most 1024 characters",
    help: "The reply ends before the first of these texts.",
    fieldNote: "The empty string means none.",
  },
  seed: {
    field: "seed",
    kind: "seed",
    rule: "an integer of at most 64 bits",
    defaultText: "random",
    help: "The same seed and request give the same reply.",
    fieldNote: "-1 is a random seed.",
    libraryNote: "-1 is a random seed.",
    details: "See [reproducibility](http-api.md#reproducibility).",
    flag: "--seed <number>",
  },
  logitBias: {
    field: "logit_bias",
    kind: "bias",
    max: 4_096,
    lengthMax: 256,
    defaultText: "none",
    help: "Up to 4096 token ids, each with a number from -100 to 100 that is added to its logit; or pairs of a token id, or a text whose tokens are meant, and such a number. -100 bans a token.",
    fieldNote: "So does false.",
  },
} as const satisfies Readonly<Record<string, GenerationOption>>;

/** Samplers that few programs know, under llama-server's names, and the order of all. Each is off by default. */
export const moreOptions = {
  typicalP: {
    field: "typical_p",
    kind: "number",
    min: 0,
    max: 1,
    default: 1,
    help: "Keeps the tokens that are about as likely as expected, until their probabilities add up to this; 1 keeps all.",
  },
  topNSigma: {
    field: "top_n_sigma",
    kind: "number",
    min: -1,
    max: singleMax,
    default: 0,
    help: "Keeps tokens whose logits are at most this many standard deviations below the highest; 0 and -1 keep all.",
  },
  xtcProbability: {
    field: "xtc_probability",
    kind: "number",
    min: 0,
    max: 1,
    default: 0,
    help: "XTC: how often all tokens of at least xtc_threshold but the least likely are left out; 0 is off.",
    ggufKey: "xtc_probability",
  },
  xtcThreshold: {
    field: "xtc_threshold",
    kind: "number",
    min: 0,
    max: 1,
    default: 0.1,
    help: "XTC: the probability from which tokens are left out; above 0.5, it is off.",
    ggufKey: "xtc_threshold",
  },
  dynatempRange: {
    field: "dynatemp_range",
    kind: "number",
    min: 0,
    max: singleMax,
    default: 0,
    help: "How far the temperature may be from temperature: lower where the model is certain, higher where it is not; 0 is off.",
  },
  dynatempExponent: {
    field: "dynatemp_exponent",
    kind: "number",
    min: 0,
    max: singleMax,
    default: 1,
    help: "How the temperature follows the model's uncertainty; 1 is in proportion.",
  },
  dryMultiplier: {
    field: "dry_multiplier",
    kind: "number",
    min: 0,
    max: singleMax,
    default: 0,
    help: "DRY: how strongly tokens that would go on with a repetition are discouraged; 0 is off.",
  },
  dryBase: {
    field: "dry_base",
    kind: "number",
    min: 1,
    max: singleMax,
    default: 1.75,
    help: "DRY: by which factor that grows with each repeated token.",
  },
  dryAllowedLength: {
    field: "dry_allowed_length",
    kind: "integer",
    min: 0,
    max: windowMax,
    default: 2,
    help: "DRY: repetitions of up to this many tokens are free.",
  },
  dryPenaltyLastN: {
    field: "dry_penalty_last_n",
    kind: "integer",
    min: 0,
    fieldMin: -1,
    max: windowMax,
    isWindow: true,
    default: 64,
    help: "DRY: how many tokens back it looks; 0 is off.",
    fieldNote: "-1 means 4096.",
  },
  drySequenceBreakers: {
    field: "dry_sequence_breakers",
    kind: "texts",
    max: 32,
    lengthMax: 64,
    default: ["\n", ":", '"', "*"],
    rule: "an array of at most 32 texts of 1 to 64 characters",
    help: "DRY: texts across which nothing counts as a repetition.",
  },
  mirostat: {
    field: "mirostat",
    kind: "integer",
    min: 0,
    max: 2,
    default: 0,
    help: "1 or 2: keeps the surprise of the text near mirostat_tau, in place of all samplers but penalties, DRY and temperature; 0 is off.",
    ggufKey: "mirostat",
  },
  mirostatTau: {
    field: "mirostat_tau",
    kind: "number",
    min: 0,
    max: singleMax,
    default: 5,
    help: "Mirostat: the target, in bits for each token.",
    ggufKey: "mirostat_tau",
  },
  mirostatEta: {
    field: "mirostat_eta",
    kind: "number",
    min: 0,
    max: singleMax,
    default: 0.1,
    help: "Mirostat: how fast it corrects itself.",
    ggufKey: "mirostat_eta",
  },
  adaptiveTarget: {
    field: "adaptive_target",
    kind: "number",
    min: -1,
    max: 1,
    default: -1,
    help: "Adaptive-p: prefers tokens whose probability is near this; below 0, it is off.",
    details: "Not with `mirostat`.",
  },
  adaptiveDecay: {
    field: "adaptive_decay",
    kind: "number",
    min: 0,
    max: 0.99,
    default: 0.9,
    help: "Adaptive-p: how slowly earlier tokens are forgotten.",
  },
  samplers: {
    field: "samplers",
    kind: "samplers",
    default: samplerNames,
    defaultText: "all, in this order",
    help: "The samplers in the order in which they are applied. One that is missing is off; adaptive_p is always the last.",
    fieldNote: "By name, or as a string of llama-server's letters.",
    ggufKey: "sequence",
  },
  minTokens: {
    field: "min_tokens",
    kind: "integer",
    min: 0,
    max: tokensMax,
    default: 0,
    help: "Until the reply has this many tokens, neither the model nor a stop string ends it.",
  },
} as const satisfies Readonly<Record<string, GenerationOption>>;

/** Every row, by the option's name. */
export const generationOptions = { ...commonOptions, ...moreOptions };
export type OptionTable = typeof generationOptions;
export type OptionName = keyof OptionTable;

/** The names of the options of some kinds. */
export type NamesOfKind<Kind extends GenerationOption["kind"]> = {
  [Name in OptionName]: OptionTable[Name]["kind"] extends Kind ? Name : never;
}[OptionName];

/** The options that are numbers. */
export type NumberName = NamesOfKind<"number" | "integer">;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a constant
export const optionNames = Object.keys(generationOptions) as OptionName[];

export function isNumber(name: OptionName): name is NumberName {
  const { kind } = generationOptions[name];
  return kind === "number" || kind === "integer";
}
