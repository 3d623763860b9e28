// Schemas of the parts of tokenizer.json and tokenizer_config.json that are used. tokens.ts checks the vocabulary and its merges,
// up to half a million entries.
import { z } from "zod";

import { MlxError } from "../errors.ts";

/** The longest tokens are runs of some hundred spaces. */
export const TOKEN_LENGTH_MAX = 4096;
/** Gemma has some six thousand. */
const ADDED_MAX = 65_536;
/** Long chat templates take about 100 KiB; our GGUF reader has the same limit. */
export const TEMPLATE_LENGTH_MAX = 1024 * 1024;
const TEMPLATES_MAX = 64;
/** Steps of a sequence of normalizers, pre-tokenizers or templates. */
const STEPS_MAX = 64;

const tokenText = z.string().max(TOKEN_LENGTH_MAX);

const AddedToken = z.object({
  id: z
    .int()
    .min(0)
    .max(2 ** 31 - 1),
  content: tokenText.min(1),
  special: z.boolean().nullish(),
});
export type AddedToken = z.infer<typeof AddedToken>;

/** One step of changing or splitting a text before the vocabulary is applied. */
export const Step = z.object({
  type: z.string().max(64),
  pattern: z
    .object({ Regex: z.string().max(8192).nullish(), String: z.string().max(8192).nullish() })
    .nullish(),
  behavior: z.string().max(64).nullish(),
  invert: z.boolean().nullish(),
  content: z.string().max(64).nullish(),
  prepend: z.string().max(64).nullish(),
  replacement: z.string().max(64).nullish(),
  prepend_scheme: z.string().max(64).nullish(),
  add_prefix_space: z.boolean().nullish(),
  use_regex: z.boolean().nullish(),
  individual_digits: z.boolean().nullish(),
});
export type Step = z.infer<typeof Step>;

const Steps = z.array(Step).max(STEPS_MAX);
/** A single step, or a sequence of steps. */
const stepsOr = (sequence: z.ZodType<readonly Step[]>) =>
  z
    .union([sequence, Step.transform((step): readonly Step[] => [step])])
    .nullish()
    .transform((steps) => steps ?? []);
const Sequence = z.object({ type: z.literal("Sequence") });
const Normalizers = Sequence.extend({ normalizers: Steps }).transform(({ normalizers }) => normalizers);
const PreTokenizers = Sequence.extend({ pretokenizers: Steps }).transform(
  ({ pretokenizers }) => pretokenizers,
);

const TemplatePiece = z.object({
  SpecialToken: z.object({ id: tokenText }).nullish(),
  Sequence: z.object({ id: z.string().max(8) }).nullish(),
});
const Processor = z.object({
  type: z.string().max(64),
  single: z.array(TemplatePiece).max(STEPS_MAX).nullish().catch(null),
  pair: z.array(TemplatePiece).max(STEPS_MAX).nullish().catch(null),
});
export type Processor = z.infer<typeof Processor>;

const TokenizerJson = z.object({
  added_tokens: z
    .array(AddedToken)
    .max(ADDED_MAX)
    .nullish()
    .transform((tokens) => tokens ?? []),
  normalizer: stepsOr(Normalizers),
  pre_tokenizer: stepsOr(PreTokenizers),
  post_processor: Processor.extend({ processors: z.array(Processor).max(STEPS_MAX).nullish() }).nullish(),
  model: z.object({
    type: z.string().max(64).optional(),
    vocab: z.unknown(),
    merges: z.unknown(),
    byte_fallback: z.boolean().nullish(),
    ignore_merges: z.boolean().nullish(),
    unk_token: tokenText.nullish(),
  }),
});
export type TokenizerJson = z.infer<typeof TokenizerJson>;

/** The text of a token, or an object with it. */
const tokenName = z
  .union([tokenText, z.object({ content: tokenText }).transform(({ content }) => content)])
  .nullish()
  .catch(undefined);
const flag = z.boolean().nullish().catch(undefined);

const NamedTemplate = z.object({ name: z.string().max(256), template: z.string().max(TEMPLATE_LENGTH_MAX) });

const TokenizerConfig = z.object({
  add_prefix_space: flag,
  add_bos_token: flag,
  add_eos_token: flag,
  add_sep_token: flag,
  bos_token: tokenName,
  eos_token: tokenName,
  unk_token: tokenName,
  sep_token: tokenName,
  pad_token: tokenName,
  cls_token: tokenName,
  mask_token: tokenName,
  chat_template: z
    .union([z.string().max(TEMPLATE_LENGTH_MAX), z.array(NamedTemplate).max(TEMPLATES_MAX)])
    .nullish(),
});
export type TokenizerConfig = z.infer<typeof TokenizerConfig>;

export function parseTokenizer(json: unknown): TokenizerJson {
  return parse("tokenizer.json", TokenizerJson, json);
}

/** A folder may have no tokenizer_config.json. */
export function parseTokenizerConfig(json: unknown): TokenizerConfig {
  return parse("tokenizer_config.json", TokenizerConfig, json ?? {});
}

function parse<T>(file: string, schema: z.ZodType<T>, json: unknown): T {
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field =
    issue === undefined
      ? ""
      : ` ${[issue.path.join("."), issue.message].filter((part) => part !== "").join(": ")}.`;
  throw new MlxError("mlx_malformed", `${file} is invalid.${field}`);
}
