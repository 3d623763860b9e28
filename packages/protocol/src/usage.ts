// What an answer says of the work behind it. Used by the answers of chat.ts and of the other endpoints that generate.
import { z } from "zod";

/** Tokens of a request and its reply. */
export const Usage = z
  .object({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
    prompt_tokens_details: z.object({
      cached_tokens: z
        .int()
        .meta({ description: "Tokens of the prompt that did not have to be computed again." }),
    }),
    completion_tokens_details: z.object({
      reasoning_tokens: z.int().meta({ description: "Those of the reply that were spent on thinking." }),
    }),
  })
  .meta({ id: "Usage" });
export type Usage = z.infer<typeof Usage>;

/** How long the engine worked: tokens, milliseconds and tokens per second of the prompt and of the reply. */
export const Timings = z
  .object({
    prompt_n: z.int().meta({ description: "Tokens of the prompt that were computed." }),
    prompt_ms: z.number().meta({ description: "Milliseconds that took." }),
    prompt_per_second: z.number(),
    predicted_n: z.int().meta({ description: "Tokens of the reply." }),
    predicted_ms: z.number().meta({
      description: "Milliseconds from the first of them, which ends the prompt's time, to the last.",
    }),
    predicted_per_second: z
      .number()
      .meta({ description: "Of the tokens behind the first one; 0 where there is no other." }),
    cache_n: z.int().meta({ description: "Tokens of the prompt that came from the cache." }),
    dropped_n: z
      .int()
      .meta({ description: "Tokens of a chat's oldest turns that were dropped to make room." }),
    draft_n: z.int().optional().meta({
      description: "Tokens of the reply that speculation guessed; absent where it guessed none.",
    }),
    draft_n_accepted: z.int().optional().meta({ description: "Those of them that were right." }),
  })
  .meta({ id: "Timings" });
export type Timings = z.infer<typeof Timings>;
