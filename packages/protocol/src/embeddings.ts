// POST /v1/embeddings: the request and the response.
import { z } from "zod";

import { integerField, optionalField, responseObject } from "./fields/field.ts";
import { textLengthMax } from "./fields/content.ts";
import { bodyRule, servedModelField, userField } from "./fields/request-fields.ts";
import { areTokenIds, isTokenId, sizePrecheck, tokenIds } from "./fields/size-precheck.ts";

/** Maximum number of texts per request, as clients of this API expect. */
export const embeddingInputsMax = 2_048;

/** Maximum number of token ids of all texts together: each is checked, and one body may hold millions. */
export const embeddingTokensMax = 1_048_576;

/** Maximum vector length that a request may ask for; the model's own size is the real limit. */
const dimensionsMax = 1_048_576;

const inputRule =
  `input must be a text, token ids, or an array of 1 to ${embeddingInputsMax} of one kind of them; none is empty, a ` +
  `text has at most ${textLengthMax} characters, and there are at most ${embeddingTokensMax} token ids in all`;
const formatRule = 'encoding_format must be "float" or "base64"';

const text = z.string(inputRule).min(1, inputRule).max(textLengthMax, inputRule);
const tokens = tokenIds(inputRule);

function inputList<Schema extends z.ZodType>(schema: Schema) {
  return z.array(schema, inputRule).min(1, inputRule).max(embeddingInputsMax, inputRule);
}

/** The same rules as the schema below, but it stops at the first mistake. */
function isInput(value: unknown): boolean {
  if (!Array.isArray(value)) return isText(value);
  const list: readonly unknown[] = value;
  if (list.length === 0 || list.length > embeddingTokensMax) return false;
  if (list.every(isTokenId)) return true;
  if (list.length > embeddingInputsMax) return false;
  return list.every(isText) || (countTokens(list) <= embeddingTokensMax && list.every(isTokenList));
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "" && value.length <= textLengthMax;
}

function isTokenList(value: unknown): boolean {
  return areTokenIds(value) && Array.isArray(value) && value.length > 0;
}

function countTokens(texts: readonly unknown[]): number {
  return texts.reduce<number>((sum, each) => sum + (Array.isArray(each) ? each.length : 0), 0);
}

const input = sizePrecheck(
  z
    .union([text, tokens, inputList(text), inputList(tokens)], inputRule)
    .describe("One text or several, as texts or as token ids."),
  isInput,
  inputRule,
);

/** The body of `POST /v1/embeddings`. `null` means absent, and unknown fields are ignored. */
export const EmbeddingsRequest = z
  .looseObject(
    {
      model: servedModelField,
      input,
      encoding_format: optionalField(
        z.enum(["float", "base64"], formatRule),
        "Vectors as numbers, or as the base64 of 32-bit floats, little-endian.",
        "float",
      ),
      dimensions: optionalField(
        integerField("dimensions", { min: 1, max: dimensionsMax }),
        "Keeps this many numbers of each vector, and normalizes it again.",
      ),
      user: userField,
    },
    bodyRule,
  )
  .meta({ id: "EmbeddingsRequest" });
/** A checked request. */
export type EmbeddingsRequest = z.infer<typeof EmbeddingsRequest>;
/** A request as clients write it: `null` means absent. */
export type EmbeddingsBody = z.input<typeof EmbeddingsRequest>;

/** Tokens of all texts together. */
export const EmbeddingsUsage = responseObject("EmbeddingsUsage", {
  prompt_tokens: z.int(),
  total_tokens: z.int(),
});
export type EmbeddingsUsage = z.infer<typeof EmbeddingsUsage>;

/** The vector of one text. */
export const Embedding = responseObject("Embedding", {
  object: z.literal("embedding"),
  index: z.int().describe("Index of the text in `input`."),
  embedding: z
    .union([z.array(z.number()), z.string()])
    .describe("Numbers; with base64, 32-bit floats, little-endian."),
});
export type Embedding = z.infer<typeof Embedding>;

export const Embeddings = responseObject("Embeddings", {
  object: z.literal("list"),
  data: z.array(Embedding),
  model: z.string(),
  usage: EmbeddingsUsage,
});
export type Embeddings = z.infer<typeof Embeddings>;
