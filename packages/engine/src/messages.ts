// A conversation as the engine takes it: who said what, which tools were called and what they gave. The model's own chat
// template writes it out.
import { z } from "zod";
import { RgbImage } from "./images/rgb-image.ts";

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

/** A piece of what somebody says, in its place among the others. */
export const ContentPart = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("text"), text: z.string() }),
    z.object({ type: z.literal("image"), image: RgbImage }),
  ])
  .meta({ id: "ContentPart" });
export type ContentPart = z.infer<typeof ContentPart>;

export const Message = z
  .object({
    /** `system`, `user`, `assistant`, `tool` or another role that the model's template knows. */
    role: z.string().min(1).max(64),
    /** A text, or texts and pictures in their order. Pictures are for models that were loaded with a projector. */
    content: z.union([z.string(), z.array(ContentPart)]),
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

/** What a message says in words, its pieces one a line. */
export function textOf({ content }: Pick<Message, "content">): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** A message that says more, before or after what it says. */
export function withText<M extends Message>(
  message: M,
  place: "before" | "after",
  text: string,
  join: string,
): M {
  const { content } = message;
  if (typeof content === "string") {
    const both = place === "before" ? [text, content] : [content, text];
    return { ...message, content: both.filter((one) => one !== "").join(join) };
  }
  const part: ContentPart = { type: "text", text };
  return { ...message, content: place === "before" ? [part, ...content] : [...content, part] };
}

/** How many pictures a conversation has. */
export function countImages(messages: readonly Message[]): number {
  const ofMessage = ({ content }: Message): number =>
    typeof content === "string" ? 0 : content.filter(({ type }) => type === "image").length;
  return messages.reduce((sum, message) => sum + ofMessage(message), 0);
}
