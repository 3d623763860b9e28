// LM Studio's conversation files (`~/.lmstudio/conversations/….conversation.json`), one conversation each: a list of messages, each in
// several versions of which one is selected. What follows belongs to the selected one.
import * as z from "zod/mini";

import { type ForeignChat, type ForeignNode, joinedText, type LeftOutCounter } from "./imported-chat.ts";

const Part = z.object({ type: z.string(), text: z.nullish(z.string()), fileType: z.nullish(z.string()) });
const parts = z.union([z.string(), z.array(Part)]);
type Parts = z.infer<typeof parts>;

const Step = z.object({
  type: z.string(),
  content: z.nullish(parts),
  style: z.nullish(z.object({ type: z.nullish(z.string()) })),
  genInfo: z.nullish(
    z.object({ identifier: z.nullish(z.string()), indexedModelIdentifier: z.nullish(z.string()) }),
  ),
});
type Step = z.infer<typeof Step>;

const Version = z.object({
  role: z.string(),
  content: z.nullish(parts),
  steps: z.nullish(z.array(Step)),
  senderInfo: z.nullish(z.object({ senderName: z.nullish(z.string()) })),
});
type Version = z.infer<typeof Version>;

const LmStudioConversation = z.object({
  name: z.nullish(z.string()),
  createdAt: z.nullish(z.number()),
  systemPrompt: z.nullish(z.string()),
  perChatPredictionConfig: z.nullish(
    z.object({ fields: z.array(z.object({ key: z.string(), value: z.optional(z.unknown()) })) }),
  ),
  lastUsedModel: z.nullish(z.object({ identifier: z.nullish(z.string()) })),
  messages: z.array(
    z.object({
      versions: z.array(z.unknown()),
      currentlySelected: z.nullish(z.int().check(z.nonnegative())),
    }),
  ),
});
type LmStudioConversation = z.infer<typeof LmStudioConversation>;

export function readLmStudio(value: unknown, leftOut: LeftOutCounter): ForeignChat | undefined {
  const { data: chat } = LmStudioConversation.safeParse(value);
  if (chat === undefined) return undefined;
  const { nodes, last } = readNodes(chat, leftOut);
  return {
    title: chat.name ?? "",
    systemPrompt: readSystemPrompt(chat),
    createdAt: chat.createdAt ?? null,
    updatedAt: null,
    nodes,
    currentId: last,
  };
}

function readSystemPrompt({ systemPrompt, perChatPredictionConfig }: LmStudioConversation): string {
  const fields = perChatPredictionConfig?.fields ?? [];
  const value = fields.find(({ key }) => key === "llm.prediction.systemPrompt")?.value;
  return typeof value === "string" ? value : (systemPrompt ?? "");
}

function readNodes(chat: LmStudioConversation, leftOut: LeftOutCounter) {
  const nodes: ForeignNode[] = [];
  let last: string | null = null;
  for (const [at, { versions, currentlySelected }] of chat.messages.entries()) {
    const parentId: string | null = last;
    const selected = Math.min(currentlySelected ?? 0, versions.length - 1);
    for (const [number, value] of versions.entries()) {
      const id = `${at}.${number}`;
      if (number === selected) last = id;
      const { data: version } = Version.safeParse(value);
      if (version === undefined) leftOut.add("others");
      nodes.push({
        ...(version === undefined ? { role: "none", text: "" } : readVersion(version, chat, leftOut)),
        id,
        parentId,
        createdAt: null,
      });
    }
  }
  return { nodes, last };
}

function readVersion(
  version: Version,
  { lastUsedModel }: LmStudioConversation,
  leftOut: LeftOutCounter,
): Pick<ForeignNode, "role" | "text" | "thinking" | "model"> {
  const { role, content, steps, senderInfo } = version;
  if (role !== "user" && role !== "assistant" && role !== "system") {
    leftOut.add(role === "tool" ? "tools" : "others");
    return { role: "none", text: "" };
  }
  let text = readText(content ?? [], leftOut);
  let thinking = "";
  for (const step of steps ?? []) {
    const stepText = readStepText(step, leftOut);
    if (step.style?.type === "thinking") thinking = joinedText(thinking, stepText.trim());
    else text = joinedText(text, stepText);
  }
  const info = (steps ?? [])
    .map(({ genInfo }) => genInfo)
    .find((found) => found !== null && found !== undefined);
  const model =
    senderInfo?.senderName ??
    info?.identifier ??
    info?.indexedModelIdentifier ??
    lastUsedModel?.identifier ??
    null;
  return { role, ...(role === "assistant" ? withoutThoughts(text, thinking) : { text, thinking }), model };
}

/** Older versions kept thoughts in the text. */
function withoutThoughts(text: string, thinking: string): { text: string; thinking: string } {
  const [whole, thoughts = ""] = /^\s*<think>([\s\S]*?)<\/think>\s*/.exec(text) ?? [];
  if (whole === undefined) return { text, thinking };
  return { text: text.slice(whole.length), thinking: joinedText(thinking, thoughts.trim()) };
}

function readStepText({ type, content }: Step, leftOut: LeftOutCounter): string {
  if (type === "contentBlock") return readText(content ?? [], leftOut);
  // A note of that program to itself, such as which model had been loaded.
  if (type !== "debugInfoBlock") leftOut.add(type.startsWith("tool") ? "tools" : "others");
  return "";
}

function readText(content: Parts, leftOut: LeftOutCounter): string {
  if (typeof content === "string") return content;
  let text = "";
  for (const { type, text: piece, fileType } of content) {
    if (type === "text") text += piece ?? "";
    else if (type === "file") leftOut.add((fileType ?? "").startsWith("image") ? "images" : "files");
    else leftOut.add(type.startsWith("tool") ? "tools" : "others");
  }
  return text;
}
