// Log probabilities of tokens: the fields that request them, and their form in a response.
import { z } from "zod";

import { integerField } from "./bounded-field.ts";
import { flag, optionalField } from "./optional-field.ts";

/** The most alternatives listed for each token. */
export const topLogprobsMax = 20;

/** How many of the likeliest tokens to list for each token. */
export const topLogprobsField = optionalField(integerField("top_logprobs", { min: 0, max: topLogprobsMax }), {
  description:
    "Lists this many of the likeliest tokens for each token; needs log probabilities to be requested.",
});

/** The fields by their wire names. */
export const logprobFields = {
  logprobs: flag("logprobs", {
    description: "Returns the log probability of each token of the reply.",
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
  token: z.string().meta({ description: "The token's text; partial characters are U+FFFD." }),
  logprob: z.number().meta({ description: "Natural logarithm of the probability; -9999 if that is 0." }),
  bytes: z.array(z.int()).nullable().meta({ description: "The token's bytes in UTF-8." }),
};

/** The log probability of one token. */
export const TokenLogprob = z
  .object({
    ...tokenFields,
    top_logprobs: z
      .array(z.object(tokenFields))
      .meta({ description: "The likeliest tokens at this position." }),
  })
  .meta({ id: "TokenLogprob" });
export type TokenLogprob = z.infer<typeof TokenLogprob>;

/** Of every token of a choice, or of a chunk of it. */
export const ChoiceLogprobs = z
  .object({ content: z.array(TokenLogprob), refusal: z.null() })
  .meta({ id: "ChoiceLogprobs" });
export type ChoiceLogprobs = z.infer<typeof ChoiceLogprobs>;
