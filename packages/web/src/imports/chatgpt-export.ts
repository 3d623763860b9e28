// ChatGPT's conversations.json: an array of conversations, each with its messages as a tree under `mapping`. Images and recordings are in
// other files of the export, which the page does not get.
import * as z from "zod/mini";

import { type ForeignChat, type ForeignNode, joinedText, type LeftOutCounter } from "./imported-chat.ts";

const seconds = z.nullish(z.number());

/** Contents have other fields for each `content_type`; of those, only texts are read. */
const Content = z.object({
  content_type: z.string(),
  parts: z.optional(z.nullable(z.array(z.unknown()))),
  text: z.optional(z.unknown()),
  thoughts: z.optional(z.unknown()),
});

const ChatGptMessage = z.object({
  author: z.object({ role: z.string() }),
  create_time: z.optional(seconds),
  content: Content,
  recipient: z.nullish(z.string()),
  metadata: z.nullish(
    z.object({
      model_slug: z.nullish(z.string()),
      is_visually_hidden_from_conversation: z.nullish(z.boolean()),
      attachments: z.nullish(
        z.array(z.object({ mime_type: z.nullish(z.string()), mimeType: z.nullish(z.string()) })),
      ),
    }),
  ),
});
type ChatGptMessage = z.infer<typeof ChatGptMessage>;

const ChatGptNode = z.object({
  message: z.nullish(z.unknown()),
  parent: z.nullish(z.string()),
  children: z.optional(z.array(z.string())),
});
type ChatGptNode = z.infer<typeof ChatGptNode>;

const ChatGptConversation = z.object({
  title: z.nullish(z.string()),
  create_time: z.optional(seconds),
  update_time: z.optional(seconds),
  mapping: z.record(z.string(), ChatGptNode),
  current_node: z.nullish(z.string()),
});

/** Marks of citations, which the site shows as links: private characters around them. */
const citation = /\ue200[^\ue200\ue201]*\ue201/g;

export function readChatGpt(value: unknown, leftOut: LeftOutCounter): ForeignChat | undefined {
  const { data } = ChatGptConversation.safeParse(value);
  if (data === undefined) return undefined;
  return {
    title: data.title ?? "",
    systemPrompt: "",
    createdAt: milliseconds(data.create_time),
    updatedAt: milliseconds(data.update_time),
    nodes: sortNodes(data.mapping).map(([id, node]) => toNode(id, node, leftOut)),
    currentId: data.current_node ?? null,
  };
}

/** Siblings in the order of their parent's list, which is that of their versions. */
function sortNodes(mapping: Readonly<Record<string, ChatGptNode>>): [string, ChatGptNode][] {
  const places = new Map<string, number>();
  for (const { children = [] } of Object.values(mapping))
    for (const [at, id] of children.entries()) places.set(id, at);
  return Object.entries(mapping).toSorted(([a], [b]) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
}

function milliseconds(time: number | null | undefined): number | null {
  return time === null || time === undefined ? null : Math.round(time * 1_000);
}

function toNode(
  id: string,
  { message: value, parent = null }: ChatGptNode,
  leftOut: LeftOutCounter,
): ForeignNode {
  const none: ForeignNode = { id, parentId: parent, role: "none", text: "", createdAt: null };
  // The root has no message.
  if (value === null || value === undefined) return none;
  const { data: message } = ChatGptMessage.safeParse(value);
  if (message === undefined) {
    leftOut.add("others");
    return none;
  }
  if (message.metadata?.is_visually_hidden_from_conversation === true) return none;
  const { role } = message.author;
  if (role === "tool") {
    countTool(message, leftOut);
    return none;
  }
  const isCall = role === "assistant" && (message.recipient ?? "all") !== "all";
  if (isCall) {
    leftOut.add("tools");
    return none;
  }
  if (role !== "user" && role !== "assistant" && role !== "system") {
    leftOut.add("others");
    return none;
  }
  const { text, thinking } = readTexts(message, leftOut);
  if (role === "user") countFiles(message, leftOut);
  return {
    ...none,
    role,
    text,
    thinking,
    createdAt: milliseconds(message.create_time),
    model: message.metadata?.model_slug ?? null,
  };
}

/** An image that a tool drew is part of what was shown; its other results are not. */
function countTool({ content }: ChatGptMessage, leftOut: LeftOutCounter): void {
  const images = (content.parts ?? []).filter((part) => partKind(part) === "images").length;
  if (images > 0) leftOut.add("images", images);
  else leftOut.add("tools");
}

/** Images are also among the parts, where they are counted. */
function countFiles({ metadata }: ChatGptMessage, leftOut: LeftOutCounter): void {
  const types = (metadata?.attachments ?? []).map(({ mime_type, mimeType }) => mime_type ?? mimeType ?? "");
  leftOut.add("files", types.filter((type) => !type.startsWith("image/")).length);
}

function readTexts({ content }: ChatGptMessage, leftOut: LeftOutCounter): { text: string; thinking: string } {
  switch (content.content_type) {
    case "text":
    case "multimodal_text":
      return { text: partsText(content.parts ?? [], leftOut), thinking: "" };
    case "code":
      return { text: stringOrEmpty(content.text), thinking: "" };
    case "thoughts":
      return { text: "", thinking: thoughtsText(content.thoughts) };
    case "reasoning_recap":
    case "user_editable_context":
    case "model_editable_context":
      // "Thought for 5 seconds", and instructions of the account.
      return { text: "", thinking: "" };
    default:
      leftOut.add("others");
      return { text: stringOrEmpty(content.text), thinking: "" };
  }
}

function partsText(parts: readonly unknown[], leftOut: LeftOutCounter): string {
  let text = "";
  for (const part of parts) {
    if (typeof part === "string") text = joinedText(text, part);
    else {
      const { data } = Transcript.safeParse(part);
      if (data === undefined) leftOut.add(partKind(part));
      else text = joinedText(text, data.text);
    }
  }
  return text.replaceAll(citation, "");
}

const Transcript = z.object({ content_type: z.literal("audio_transcription"), text: z.string() });

const Part = z.object({ content_type: z.string() });

function partKind(part: unknown): "images" | "audio" | "others" {
  const type = Part.safeParse(part).data?.content_type ?? "";
  if (type.startsWith("image_")) return "images";
  return type.startsWith("audio_") || type.startsWith("real_time_") ? "audio" : "others";
}

const Thoughts = z.array(z.object({ summary: z.nullish(z.string()), content: z.nullish(z.string()) }));

function thoughtsText(value: unknown): string {
  const thoughts = Thoughts.safeParse(value).data ?? [];
  return thoughts.reduce((text, { content }) => joinedText(text, content ?? ""), "");
}

function stringOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}
