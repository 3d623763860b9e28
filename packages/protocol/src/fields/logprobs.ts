// Log probabilities of tokens: the fields that request them, and their form in a response.
import { z } from "zod";

import { flag, integerField, optionalField, responseObject, refuseField } from "./field.ts";

/** Maximum number of alternatives listed for each token. */
export const topLogprobsMax = 20;

/** How many of the likeliest tokens to list for each token. */
export const topLogprobsField = optionalField(
  integerField("top_logprobs", { min: 0, max: topLogprobsMax }),
  "Lists this many of the likeliest tokens for each token; needs log probabilities to be requested.",
);

/** The fields by their wire names. */
export const logprobFields = {
  logprobs: flag("logprobs", "Returns the log probability of each token of the reply.", false),
  top_logprobs: topLogprobsField,
};

/** Adds an issue for `top_logprobs` without `logprobs`. */
export function refineLogprobs(
  request: { logprobs?: boolean | undefined; top_logprobs?: number | undefined },
  context: z.RefinementCtx,
): void {
  if (request.top_logprobs === undefined || request.logprobs === true) return;
  refuseField(context, "top_logprobs", "top_logprobs needs logprobs to be true");
}

const tokenFields = {
  token: z.string().describe("The token's text; partial characters are U+FFFD."),
  logprob: z.number().describe("Natural logarithm of the probability; -9999 if that is 0."),
  bytes: z.array(z.int()).nullable().describe("The token's bytes in UTF-8."),
};

/** The log probability of one token. */
export const TokenLogprob = responseObject("TokenLogprob", {
  ...tokenFields,
  top_logprobs: z.array(z.object(tokenFields)).describe("The likeliest tokens at this position."),
});
export type TokenLogprob = z.infer<typeof TokenLogprob>;

/** The log probabilities of every token of a choice, or of a chunk of it. */
export const ChoiceLogprobs = responseObject("ChoiceLogprobs", {
  content: z.array(TokenLogprob),
  refusal: z.null(),
});
export type ChoiceLogprobs = z.infer<typeof ChoiceLogprobs>;
