// The messages of a conversation, with tool calls and their results. The model's chat template formats them.
import { z } from "zod";
import { AudioFile } from "../media/audio/audio-limits.ts";
import { RgbImage } from "../media/images/image-limits.ts";
import type { NativeChat, NativeMessage } from "../native/addon.ts";

/** A tool call that the model requested. */
export const ToolCall = z
  .object({
    id: z.string(),
    name: z.string().min(1),
    /** A JSON object as text. */
    arguments: z.string(),
  })
  .meta({ id: "ToolCall" });
export type ToolCall = z.infer<typeof ToolCall>;

/** A part of a message: text, an image or an audio. */
export const ContentPart = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("text"), text: z.string() }),
    z.object({ type: z.literal("image"), image: RgbImage }),
    z.object({ type: z.literal("audio"), audio: AudioFile }),
  ])
  .meta({ id: "ContentPart" });
export type ContentPart = z.infer<typeof ContentPart>;

export const Message = z
  .object({
    /** `system`, `user`, `assistant`, `tool` or another role that the chat template supports. */
    role: z.string().min(1).max(64),
    /** A text, or texts, images and audios in order. Images and audios need a model with a projector for them. */
    content: z.union([z.string(), z.array(ContentPart)]),
    /** The assistant's reasoning before this message. The chat template decides whether to include it. */
    reasoning: z.string().optional(),
    /** The tool calls of an assistant's message. */
    toolCalls: z.array(ToolCall).optional(),
    /** In a `tool` message: the id of the call whose result this is. */
    toolCallId: z.string().optional(),
    /** In a `tool` message: the tool's name. Default: the name of the call with this id. */
    name: z.string().optional(),
  })
  .meta({ id: "Message" });
export type Message = z.infer<typeof Message>;

/** The text of a message, its parts joined by newlines. */
export function messageText({ content }: Pick<Message, "content">): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** The message with a text added before or after its content. */
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

/** The audios of a conversation, in order. */
export function collectAudios(messages: readonly Message[]): AudioFile[] {
  return messages.flatMap(({ content }) =>
    typeof content === "string" ? [] : content.flatMap((part) => (part.type === "audio" ? [part.audio] : [])),
  );
}

/** The number of images in a conversation. */
export function countImages(messages: readonly Message[]): number {
  const ofMessage = ({ content }: Message): number =>
    typeof content === "string" ? 0 : content.filter(({ type }) => type === "image").length;
  return messages.reduce((sum, message) => sum + ofMessage(message), 0);
}

/** A conversation without tools, constraints or template variables. */
export function plainChat(messages: readonly Message[], addGenerationPrompt: boolean): NativeChat {
  return {
    messages: messages.map(toNativeMessage),
    addGenerationPrompt,
    continuesLast: false,
    tools: [],
    toolRules: "",
    argumentRules: [],
    toolChoice: "auto",
    parallelToolCalls: true,
    enableThinking: true,
    templateArguments: [],
    contentRules: "",
    contentHasCalls: false,
    grammar: "",
    grammarTrigger: "",
    markup: [],
    specialTokensInContent: false,
  };
}

function toNativeMessage(message: Message): NativeMessage {
  const { content } = message;
  const isText = typeof content === "string" || content.every(({ type }) => type === "text");
  return {
    role: message.role,
    content: isText ? messageText(message) : "",
    parts: isText ? [] : content.map(toNativePart),
    reasoning: message.reasoning ?? "",
    toolCalls: message.toolCalls ?? [],
    toolCallId: message.toolCallId ?? "",
    name: message.role === "tool" ? (message.name ?? "") : "",
  };
}

function toNativePart(part: ContentPart): NativeMessage["parts"][number] {
  switch (part.type) {
    case "text":
      return { text: part.text, image: null, audio: null };
    case "image":
      return { text: "", image: part.image, audio: null };
    case "audio":
      return { text: "", image: null, audio: { data: part.audio } };
  }
}
