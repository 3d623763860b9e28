// The embeddings request, checked once where it comes in, and its answer. Used by the server's /v1/embeddings route; the
// client takes its types from here.
import { z } from "zod";

import { optionalField } from "./absent.ts";
import { inBounds } from "./in-bounds.ts";
import { textLengthMax } from "./messages.ts";
import { servedModelField, userField } from "./request-fields.ts";

/** Most texts of one request, as clients of the convention expect it. */
export const embeddingInputsMax = 2_048;

/** Most token ids of all texts of a request: each is looked at one by one, and one body has room for millions. */
export const embeddingTokensMax = 1_048_576;

/** The largest token id that there can be. */
const tokenIdMax = 0x7fff_ffff;

/** Most numbers of a vector that may be asked for; the model's own size is the real bound. */
const dimensionsMax = 1_048_576;

const rules = {
  input:
    `input must be a text, token ids, or an array of 1 to ${embeddingInputsMax} of one kind of them; none is empty, a ` +
    `text has at most ${textLengthMax} characters, and there are at most ${embeddingTokensMax} token ids in all`,
  format: 'encoding_format must be "float" or "base64"',
  dimensions: "dimensions must be an integer of at least 1",
};

const text = z.string(rules.input).min(1, rules.input).max(textLengthMax, rules.input);
const tokens = z
  .array(z.int(rules.input).min(0, rules.input).max(tokenIdMax, rules.input))
  .min(1, rules.input)
  .transform((ids) => Int32Array.from(ids));

function listOf<Schema extends z.ZodType>(schema: Schema) {
  return z.array(schema, rules.input).min(1, rules.input).max(embeddingInputsMax, rules.input);
}

/** What the schema below takes, but the first mistake is the last that is looked for. */
function isInput(value: unknown): boolean {
  if (!Array.isArray(value)) return isText(value);
  const list: readonly unknown[] = value;
  if (list.length === 0 || list.length > embeddingTokensMax) return false;
  if (list.every(isToken)) return true;
  if (list.length > embeddingInputsMax) return false;
  return list.every(isText) || (tokensOf(list) <= embeddingTokensMax && list.every(areTokens));
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "" && value.length <= textLengthMax;
}

function isToken(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= tokenIdMax;
}

function areTokens(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isToken);
}

function tokensOf(texts: readonly unknown[]): number {
  return texts.reduce<number>((sum, each) => sum + (Array.isArray(each) ? each.length : 0), 0);
}

const input = inBounds(
  z.union([text, tokens, listOf(text), listOf(tokens)], rules.input).meta({
    description: "One text or several, as texts or as token ids.",
  }),
  isInput,
  rules.input,
);

/** The body of `POST /v1/embeddings`. `null` means absent and unknown fields are ignored. */
export const EmbeddingsRequest = z
  .looseObject(
    {
      model: servedModelField,
      input,
      encoding_format: optionalField(z.enum(["float", "base64"], rules.format), {
        description: "Vectors as numbers, or as the base64 of 32-bit floats, little-endian.",
        default: "float",
      }),
      dimensions: optionalField(
        z.int(rules.dimensions).min(1, rules.dimensions).max(dimensionsMax, rules.dimensions),
        { description: "Keeps so many numbers of each vector, and makes it of length 1 again." },
      ),
      user: userField,
    },
    "the body must be a JSON object",
  )
  .meta({ id: "EmbeddingsRequest" });
/** A checked request. */
export type EmbeddingsRequest = z.infer<typeof EmbeddingsRequest>;
/** A request as a client may write it: with `null` for absent. */
export type EmbeddingsBody = z.input<typeof EmbeddingsRequest>;

/** Tokens of all texts together. */
export const EmbeddingsUsage = z
  .object({ prompt_tokens: z.int(), total_tokens: z.int() })
  .meta({ id: "EmbeddingsUsage" });
export type EmbeddingsUsage = z.infer<typeof EmbeddingsUsage>;

/** The vector of one text. */
export const Embedding = z
  .object({
    object: z.literal("embedding"),
    index: z.int().meta({ description: "Place of the text in `input`." }),
    embedding: z
      .union([z.array(z.number()), z.string()])
      .meta({ description: "Numbers, or with base64 the same as 32-bit floats, little-endian." }),
  })
  .meta({ id: "Embedding" });
export type Embedding = z.infer<typeof Embedding>;

export const Embeddings = z
  .object({
    object: z.literal("list"),
    data: z.array(Embedding),
    model: z.string(),
    usage: EmbeddingsUsage,
  })
  .meta({ id: "Embeddings" });
export type Embeddings = z.infer<typeof Embeddings>;
