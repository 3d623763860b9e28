// What a response reports beside the reply, by llama-server's names: the prompt's progress, probabilities and token ids.
import { z } from "zod";

import { flag, integerField, optionalField, responseObject } from "./field.ts";
import { topLogprobsMax } from "./logprobs.ts";

export const returnProgressField = flag(
  "return_progress",
  "While streaming, sends chunks that report how much of the prompt is computed.",
  false,
);

export const reportFields = {
  return_progress: returnProgressField,
  return_tokens: flag("return_tokens", "Returns the ids of the reply's tokens.", false),
  n_probs: optionalField(
    integerField("n_probs", { min: 0, max: topLogprobsMax }),
    "Above 0: returns the log probability of each token and of this many alternatives.",
    0,
  ),
};

export const PromptProgress = responseObject("PromptProgress", {
  total: z.int().describe("Tokens of the prompt."),
  cache: z.int().describe("Tokens that came from the prefix cache."),
  processed: z.int().describe("Tokens that are computed, including the cached ones."),
  time_ms: z.number().describe("Milliseconds since the prompt was begun."),
});
export type PromptProgress = z.infer<typeof PromptProgress>;

/** The field of a chunk. */
export const promptProgress = PromptProgress.optional().describe(
  "How much of the prompt is computed, in chunks before the reply, if return_progress is true.",
);

/** The field of a choice. */
export const replyTokens = z
  .array(z.int())
  .optional()
  .describe("The ids of the tokens, if return_tokens is true.");
