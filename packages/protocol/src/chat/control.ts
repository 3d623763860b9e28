// Controls a running reply: POST /v1/chat/completions/control.
import { z } from "zod";

import { requestObject, responseObject, stringField } from "../fields/field.ts";

/** The body. The only action ends the thought of the reply. */
export const ChatControlRequest = requestObject("ChatControlRequest", {
  id: stringField("id", { min: 1, max: 256 }).describe("That of the response, as its first event has it."),
  action: z.literal("reasoning_end", 'action must be "reasoning_end"'),
});
export type ChatControlRequest = z.infer<typeof ChatControlRequest>;

/** The response. */
export const ChatControl = responseObject("ChatControl", { success: z.literal(true) });
export type ChatControl = z.infer<typeof ChatControl>;
