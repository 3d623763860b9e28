// What an answer says of the work behind it. Used by the answers of chat.ts and of the other endpoints that generate.
import { z } from "zod";

/** Tokens of a request and its reply. */
export const Usage = z
  .object({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
    prompt_tokens_details: z.object({ cached_tokens: z.int() }),
  })
  .meta({ id: "Usage" });
export type Usage = z.infer<typeof Usage>;

/** How long the engine worked: tokens, milliseconds and tokens per second of the prompt and of the reply. */
export const Timings = z
  .object({
    prompt_n: z.int(),
    prompt_ms: z.number(),
    prompt_per_second: z.number(),
    predicted_n: z.int(),
    predicted_ms: z.number(),
    predicted_per_second: z.number(),
    cache_n: z.int(),
    dropped_n: z.int(),
    /** Tokens of the reply that speculation guessed, and those of them that were right. Absent where nothing was guessed. */
    draft_n: z.int().optional(),
    draft_n_accepted: z.int().optional(),
  })
  .meta({ id: "Timings" });
export type Timings = z.infer<typeof Timings>;
