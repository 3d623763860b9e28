// A conversation as the engine takes it: who said what, which tools were called and what they gave. The model's own chat
// template writes it out.
import { z } from "zod";

/** A call of a tool that the model asked for. */
export const ToolCall = z
  .object({
    id: z.string(),
    name: z.string().min(1),
    /** A JSON object as text. */
    arguments: z.string(),
  })
  .meta({ id: "ToolCall" });
export type ToolCall = z.infer<typeof ToolCall>;

export const Message = z
  .object({
    /** `system`, `user`, `assistant`, `tool` or another role that the model's template knows. */
    role: z.string().min(1).max(64),
    content: z.string(),
    /** What an assistant thought before it answered. Templates write it out where their model wants it. */
    reasoning: z.string().optional(),
    /** The tools that an assistant called. */
    toolCalls: z.array(ToolCall).optional(),
    /** Of a `tool` message: the id of the call whose result this is. */
    toolCallId: z.string().optional(),
    /** Of a `tool` message: the tool's name; found by the call's id when absent. */
    name: z.string().optional(),
  })
  .meta({ id: "Message" });
export type Message = z.infer<typeof Message>;
