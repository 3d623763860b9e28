// Open WebUI's export of chats: an array of rows, each with its `chat`. A chat has its messages as a tree under `history`; old ones, as a
// list. Thoughts and calls of tools are HTML inside a message's text.
import * as z from "zod/mini";

import type { ForeignChat, ForeignNode, ImportedFile, LeftOutCounter } from "./imported-chat.ts";

const OpenWebUiFile = z.object({
  type: z.nullish(z.string()),
  name: z.nullish(z.string()),
  url: z.nullish(z.string()),
  content_type: z.nullish(z.string()),
  file: z.nullish(
    z.object({
      filename: z.nullish(z.string()),
      data: z.nullish(z.object({ content: z.nullish(z.string()) })),
    }),
  ),
});
type OpenWebUiFile = z.infer<typeof OpenWebUiFile>;

const OpenWebUiMessage = z.object({
  id: z.string(),
  parentId: z.nullish(z.string()),
  childrenIds: z.nullish(z.array(z.string())),
  role: z.string(),
  content: z.nullish(z.string()),
  timestamp: z.nullish(z.number()),
  model: z.nullish(z.string()),
  modelName: z.nullish(z.string()),
  modelIdx: z.nullish(z.number()),
  files: z.nullish(z.array(OpenWebUiFile)),
});
type OpenWebUiMessage = z.infer<typeof OpenWebUiMessage>;

const OpenWebUiChat = z.object({
  title: z.nullish(z.string()),
  system: z.nullish(z.string()),
  params: z.nullish(z.object({ system: z.nullish(z.string()) })),
  history: z.nullish(
    z.object({ messages: z.record(z.string(), z.unknown()), currentId: z.nullish(z.string()) }),
  ),
  messages: z.nullish(z.array(z.unknown())),
  timestamp: z.nullish(z.number()),
});

const OpenWebUiRow = z.object({
  title: z.nullish(z.string()),
  created_at: z.nullish(z.number()),
  updated_at: z.nullish(z.number()),
  chat: OpenWebUiChat,
});

export function readOpenWebUi(value: unknown, leftOut: LeftOutCounter): ForeignChat | undefined {
  const row = OpenWebUiRow.safeParse(value).data;
  const chat = row?.chat ?? OpenWebUiChat.safeParse(value).data;
  if (chat === undefined) return undefined;
  const messages = readMessages(chat.history?.messages ?? null, chat.messages ?? [], leftOut);
  const rounds = numberRounds(messages);
  return {
    title: row?.title ?? chat.title ?? "",
    systemPrompt: chat.params?.system ?? chat.system ?? "",
    createdAt: milliseconds(row?.created_at ?? chat.timestamp),
    updatedAt: milliseconds(row?.updated_at),
    nodes: messages.map((message) => toNode(message, rounds.get(message.id), leftOut)),
    currentId: chat.history?.currentId ?? messages.at(-1)?.id ?? null,
  };
}

/** Rows have seconds; some versions wrote milliseconds, or nanoseconds. */
function milliseconds(time: number | null | undefined): number | null {
  if (time === null || time === undefined || time <= 0) return null;
  if (time > 1e17) return Math.round(time / 1e6);
  return time > 1e11 ? Math.round(time) : Math.round(time * 1_000);
}

function readMessages(
  tree: Readonly<Record<string, unknown>> | null,
  list: readonly unknown[],
  leftOut: LeftOutCounter,
): OpenWebUiMessage[] {
  const messages: OpenWebUiMessage[] = [];
  for (const value of tree === null ? list : Object.values(tree)) {
    const { data } = OpenWebUiMessage.safeParse(value);
    if (data === undefined) leftOut.add("others");
    else if (tree !== null) messages.push(data);
    else messages.push({ ...data, parentId: messages.at(-1)?.id ?? null });
  }
  const places = new Map(
    messages.flatMap(({ childrenIds }) => (childrenIds ?? []).map((id, at) => [id, at] as const)),
  );
  return messages.toSorted((a, b) => (places.get(a.id) ?? 0) - (places.get(b.id) ?? 0));
}

/** Replies of several models to one message: the first of each model belong together, then the second of each. */
function numberRounds(messages: readonly OpenWebUiMessage[]): Map<string, number> {
  const counts = new Map<string, number>();
  const rounds = new Map<string, number>();
  for (const { id, parentId, role, modelIdx } of messages) {
    if (role !== "assistant" || typeof modelIdx !== "number") continue;
    const key = `${parentId ?? ""} ${modelIdx}`;
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    rounds.set(id, count);
  }
  return rounds;
}

function toNode(message: OpenWebUiMessage, round: number | undefined, leftOut: LeftOutCounter): ForeignNode {
  const { id, parentId = null, role, content, timestamp, model, modelName, files } = message;
  const placed = { id, parentId: parentId ?? null, createdAt: milliseconds(timestamp), round };
  if (role === "assistant") {
    leftOut.add("files", (files ?? []).filter((file) => !isImage(file)).length);
    leftOut.add("images", (files ?? []).filter(isImage).length);
    return { ...placed, role, ...readReply(content ?? "", leftOut), model: model ?? modelName ?? null };
  }
  if (role !== "user" && role !== "system") {
    leftOut.add(role === "tool" ? "tools" : "others");
    return { ...placed, role: "none", text: "" };
  }
  return {
    ...placed,
    role,
    text: content ?? "",
    files: (files ?? []).flatMap((file) => importFile(file, leftOut)),
  };
}

function isImage({ type, content_type: mime }: OpenWebUiFile): boolean {
  return type === "image" || (mime ?? "").startsWith("image/");
}

/** Images that are kept on that server, and files without their text, are not in the export. */
function importFile(file: OpenWebUiFile, leftOut: LeftOutCounter): ImportedFile[] {
  const name = file.name ?? file.file?.filename ?? "";
  if (isImage(file)) {
    if (file.url?.startsWith("data:image/") === true)
      return [{ name: name === "" ? "image" : name, content: { image: file.url } }];
    leftOut.add("images");
    return [];
  }
  const text = file.file?.data?.content ?? "";
  if (text !== "") return [{ name: name === "" ? "file" : name, content: { text } }];
  leftOut.add("files");
  return [];
}

const block = /<details type="(\w+)"([^>]*)>\n?(?:<summary>[^<]*<\/summary>)?([\s\S]*?)<\/details>\n?/g;

/** Separates the blocks of HTML from the text. */
function readReply(content: string, leftOut: LeftOutCounter) {
  const thoughts: string[] = [];
  let thinkingMs = 0;
  const text = content.replaceAll(block, (_whole, kind: string, attributes: string, inside: string) => {
    if (kind === "reasoning") {
      thoughts.push(unquoted(inside));
      thinkingMs += Number(/duration="(\d+)"/.exec(attributes)?.[1] ?? 0) * 1_000;
    } else leftOut.add(kind === "tool_calls" || kind === "code_interpreter" ? "tools" : "others");
    return "";
  });
  return { text: text.trim(), thinking: thoughts.join("\n\n"), thinkingMs };
}

/** Thoughts are a quotation, whose characters are escaped in newer versions. */
function unquoted(html: string): string {
  return html
    .replaceAll("&gt;", ">")
    .replaceAll("&lt;", "<")
    .replaceAll("&quot;", '"')
    .replaceAll("&#x27;", "'")
    .replaceAll("&amp;", "&")
    .trim()
    .replaceAll(/^> ?/gm, "");
}
