// The prompt of llama-server's requests: a text, token ids, or both mixed, and several of these.
import { z } from "zod";

import { textLengthMax } from "../fields/content.ts";
import {
  areTokenIds,
  isTokenId,
  sizePrecheck,
  tokenIdMax,
  tokenIds,
  tokensMax,
} from "../fields/size-precheck.ts";

/** Maximum number of texts between the token ids of a prompt: each is tokenized on its own. */
const mixedTextsMax = 128;

/** One prompt: a text, token ids, or texts and token ids in their order. */
export type LlamaServerPrompt = string | Int32Array | (string | Int32Array)[];

const multimodalRule = "multimodal_data is not supported; send images to POST /chat/completions";

function isText(value: unknown): boolean {
  return typeof value === "string" && value.length <= textLengthMax;
}

/** Texts and at least one token id. Texts alone are several prompts. */
function isMixed(value: readonly unknown[]): boolean {
  if (value.length > tokensMax || !value.some((item) => typeof item === "number")) return false;
  let texts = 0;
  return value.every((item) => isTokenId(item) || (isText(item) && ++texts <= mixedTextsMax));
}

/** The same rules as the schema below, but it stops at the first mistake. */
function isOnePrompt(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && (areTokenIds(value) || isMixed(value));
  return isText(value) || (typeof value === "object" && value !== null);
}

function toPieces(mixed: readonly (string | number)[]): (string | Int32Array)[] {
  const pieces: (string | number[])[] = [];
  for (const item of mixed) {
    const last = pieces.at(-1);
    if (typeof item === "string") pieces.push(item);
    else if (Array.isArray(last)) last.push(item);
    else pieces.push([item]);
  }
  return pieces.map((piece) => (typeof piece === "string" ? piece : Int32Array.from(piece)));
}

function onePrompt(rule: string) {
  const text = z.string(rule).max(textLengthMax, rule);
  return z.union(
    [
      text,
      tokenIds(rule),
      z
        .array(z.union([text, z.int().min(0).max(tokenIdMax)], rule), rule)
        .refine(isMixed, rule)
        .transform(toPieces),
      z
        .looseObject({ prompt_string: text, multimodal_data: z.never(multimodalRule).optional() }, rule)
        .transform(({ prompt_string: own }) => own),
    ],
    rule,
  );
}

/** One prompt or several, which become a list. */
export function promptField(name: string, max: number) {
  const rule =
    `${name} must be a text, token ids, an array of both, {"prompt_string": text}, or an array of 1 to ` +
    `${max} of these; images are only read by POST /chat/completions`;
  const isValid = (value: unknown): boolean =>
    isOnePrompt(value) ||
    (Array.isArray(value) && value.length > 0 && value.length <= max && value.every(isOnePrompt));
  const one = onePrompt(rule);
  return sizePrecheck(
    z.union([one.transform((prompt) => [prompt]), z.array(one, rule)], rule),
    isValid,
    rule,
  ).describe("A text, token ids, both in one array, or several of these.");
}

/** A text, or a mix of texts and token ids. */
export function mixedField(name: string) {
  const rule = `${name} must be a text, or an array of texts and token ids`;
  const text = z.string(rule).max(textLengthMax, rule);
  const isValid = (value: unknown): boolean =>
    isText(value) || (Array.isArray(value) && isMixedOrTexts(value));
  return sizePrecheck(
    z.union(
      [text, z.array(z.union([text, z.int().min(0).max(tokenIdMax)], rule), rule).transform(toPieces)],
      rule,
    ),
    isValid,
    rule,
  );
}

function isMixedOrTexts(value: readonly unknown[]): boolean {
  return isMixed(value) || (value.length <= mixedTextsMax && value.every(isText));
}
