// The tokens and the time that a response reports.
import { z } from "zod";

import { responseObject } from "./fields/field.ts";

/** Tokens of the prompt and the reply. */
export const Usage = responseObject("Usage", {
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  prompt_tokens_details: z.object({
    cached_tokens: z.int().describe("Tokens of the prompt that came from the prefix cache."),
    audio_tokens: z
      .int()
      .optional()
      .describe("Tokens of the prompt that stand for audio; absent if it has none."),
  }),
  completion_tokens_details: z.object({
    reasoning_tokens: z.int().describe("Tokens of the reply that were spent on reasoning."),
    accepted_prediction_tokens: z
      .int()
      .optional()
      .describe("Drafted tokens that are in the reply; absent if none were drafted."),
    rejected_prediction_tokens: z.int().optional().describe("Drafted tokens that are not in the reply."),
  }),
});
export type Usage = z.infer<typeof Usage>;

/** The time that the engine took for the prompt and for the reply, in milliseconds and tokens per second. */
export const Timings = responseObject("Timings", {
  prompt_n: z.int().describe("Tokens of the prompt that were computed."),
  prompt_ms: z.number().describe("Milliseconds to compute them."),
  prompt_per_second: z.number(),
  predicted_n: z.int().describe("Tokens of the reply."),
  predicted_ms: z
    .number()
    .describe("Milliseconds from the first token of the reply, which ends the prompt's time, to the last."),
  predicted_per_second: z.number().describe("Counts the tokens after the first; 0 if there are none."),
  cache_n: z.int().describe("Tokens of the prompt that came from the prefix cache."),
  dropped_n: z.int().describe("Tokens of the oldest turns that a context shift dropped."),
  draft_n: z.int().optional().describe("Drafted tokens of the reply; absent if there were none."),
  draft_n_accepted: z.int().optional().describe("Drafted tokens that were accepted."),
});
export type Timings = z.infer<typeof Timings>;

/** The same in a chunk of a streamed response. */
export const ChunkTimings = Timings.partial()
  .optional()
  .describe(
    "Complete in the chunk with the finish reason; earlier chunks have the timings so far if timings_per_token is true.",
  );
