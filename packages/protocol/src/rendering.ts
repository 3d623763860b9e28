// What requests are to the model before anything is computed: the answers of POST /v1/chat/completions/render and
// POST /v1/completions/render. The paths and the field are those of vLLM's renderer, which routers ask for the tokens of a prompt.
import { z } from "zod";

/** The prompt of a reply, as the model reads it. */
export const RenderedPrompt = z
  .object({
    request_id: z
      .string()
      .meta({ description: "A name of this rendering; one for all prompts of a request." }),
    model: z.string().meta({ description: "The id of the model whose tokens these are." }),
    token_ids: z.array(z.int()).meta({
      description: "Token ids in order, the same that a completion of this body would be computed from.",
    }),
  })
  .meta({ id: "RenderedPrompt" });
export type RenderedPrompt = z.infer<typeof RenderedPrompt>;

/** One for each prompt of the request, in their order. */
export const RenderedPrompts = z.array(RenderedPrompt).meta({ id: "RenderedPrompts" });
export type RenderedPrompts = z.infer<typeof RenderedPrompts>;
