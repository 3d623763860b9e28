// Probabilities of tokens: how a chat asks for them, and their form in an answer. Used by chat.ts and responses/.
import { z } from "zod";

import { optionalField } from "./absent.ts";

/** Most of the likeliest tokens told beside each token. */
export const topLogprobsMax = 20;

const topRule = `top_logprobs must be an integer from 0 to ${topLogprobsMax}`;

/** How many of the likeliest tokens to tell beside each. */
export const topLogprobsField = optionalField(z.int(topRule).min(0, topRule).max(topLogprobsMax, topRule), {
  description: "Tells so many of the likeliest tokens beside each; needs that probabilities are asked for.",
});

/** The fields by their wire names. */
export const logprobFields = {
  logprobs: optionalField(z.boolean("logprobs must be true or false"), {
    description: "Tells how likely each token of the reply was.",
    default: false,
  }),
  top_logprobs: topLogprobsField,
};

/** Adds an issue for `top_logprobs` without `logprobs`. */
export function refineLogprobs(
  request: { logprobs?: boolean | undefined; top_logprobs?: number | undefined },
  context: z.RefinementCtx,
): void {
  if (request.top_logprobs === undefined || request.logprobs === true) return;
  context.addIssue({
    code: "custom",
    path: ["top_logprobs"],
    message: "top_logprobs needs logprobs to be true",
  });
}

const tokenFields = {
  token: z.string().meta({ description: "The token's text; parts of a character are U+FFFD." }),
  logprob: z.number().meta({ description: "Natural logarithm of the probability; -9999 where that is 0." }),
  bytes: z.array(z.int()).nullable().meta({ description: "The token's bytes in UTF-8." }),
};

/** How likely a token was. */
export const TokenLogprob = z
  .object({
    ...tokenFields,
    top_logprobs: z.array(z.object(tokenFields)).meta({ description: "The likeliest tokens in its place." }),
  })
  .meta({ id: "TokenLogprob" });
export type TokenLogprob = z.infer<typeof TokenLogprob>;

/** Of every token of a choice, or of a chunk of it. */
export const ChoiceLogprobs = z
  .object({ content: z.array(TokenLogprob), refusal: z.null() })
  .meta({ id: "ChoiceLogprobs" });
export type ChoiceLogprobs = z.infer<typeof ChoiceLogprobs>;
