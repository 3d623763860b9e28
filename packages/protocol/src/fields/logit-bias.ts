// What is added to the logits of tokens: the convention's object of token ids, or llama-server's pairs, which may also have texts.
import { generationOptions } from "@ingle/generation-options";
import { z } from "zod";

import { sizePrecheck, tokenIdMax } from "./size-precheck.ts";

/** Few enough that sampling stays cheap, and far more than any real use. */
const { max: logitBiasMax, lengthMax: biasTextMax } = generationOptions.logitBias;

const pairsRule = `an array of at most ${logitBiasMax} pairs of a token id or a text and a number from -100 to 100 or false`;
const objectRule = `logit_bias must be an object of at most ${logitBiasMax} token ids, each with a number from -100 to 100 or false, or ${pairsRule}`;
const llamaServerRule = `logit_bias must be ${pairsRule}, or an object of them`;

function biasSchema(rule: string) {
  return z.union(
    [z.number(rule).min(-100, rule).max(100, rule), z.literal(false).transform(() => -100)],
    rule,
  );
}

function pairsSchema(rule: string) {
  const token = z.union(
    [z.int(rule).min(0, rule).max(tokenIdMax, rule), z.string(rule).min(1, rule).max(biasTextMax, rule)],
    rule,
  );
  return z.array(z.tuple([token, biasSchema(rule)], rule), rule);
}

function isSmallEnough(value: unknown): boolean {
  return typeof value !== "object" || value === null || Object.keys(value).length <= logitBiasMax;
}

/** A token id as a JSON key: an integer without sign or leading zeros. */
const tokenIdKey = z.string().regex(/^(?:0|[1-9]\d{0,8})$/);

/** In an object, every key is a token id. */
export const logitBias = sizePrecheck(
  z.union([z.record(tokenIdKey, biasSchema(objectRule), objectRule), pairsSchema(objectRule)], objectRule),
  isSmallEnough,
  objectRule,
);

/** Becomes pairs. In an object, a numeric key is a token id, any other key a text. */
export const llamaServerLogitBias = sizePrecheck(
  z.union(
    [
      pairsSchema(llamaServerRule),
      z
        .record(z.string().min(1).max(biasTextMax), biasSchema(llamaServerRule), llamaServerRule)
        .transform((given) =>
          Object.entries(given).map(([key, value]): [number | string, number] => [
            /^\d{1,9}$/.test(key) ? Number(key) : key,
            value,
          ]),
        ),
    ],
    llamaServerRule,
  ),
  isSmallEnough,
  llamaServerRule,
);
