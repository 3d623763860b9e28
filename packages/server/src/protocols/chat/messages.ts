// The messages of a checked chat request in the engine's names.
import type { ToolCall } from "@ingle/engine";
import type { ChatMessage, ContentPart } from "@ingle/protocol";
import { toContent, type UnreadMessage, type UnreadPart } from "../content-parts.ts";

type AssistantMessage = Extract<ChatMessage, { role: "assistant" }>;
type AssistantPart = Exclude<AssistantMessage["content"], string | undefined>[number];

export function toMessages(messages: readonly ChatMessage[]): UnreadMessage[] {
  const ids = callIds();
  return messages.map((message, index) => toMessage(message, `messages[${index}]`, ids));
}

/** `developer` is the newer name of `system`, and `function` the older one of `tool`. */
function toMessage(message: ChatMessage, param: string, ids: CallIds): UnreadMessage {
  if (message.role === "assistant") return fromAssistant(message, param, ids);
  const content = toContent(message.content ?? "", `${param}.content`, toPart);
  if (message.role === "developer") return { role: "system", content };
  if (message.role !== "tool" && message.role !== "function") return { role: message.role, content };
  const name = message.name === "" ? undefined : message.name;
  const given = message.role === "tool" ? (message.tool_call_id ?? "") : "";
  return { role: "tool", content, toolCallId: ids.resultOf(given, name), name };
}

function fromAssistant(message: AssistantMessage, param: string, ids: CallIds): UnreadMessage {
  const { content = message.refusal ?? "", reasoning_content: reasoning } = message;
  return {
    role: "assistant",
    content: toContent(content, `${param}.content`, toAssistantPart),
    reasoning,
    toolCalls: toToolCalls(message, ids),
  };
}

function toToolCalls(message: AssistantMessage, ids: CallIds): ToolCall[] | undefined {
  const { tool_calls: calls = [], function_call: older } = message;
  const toolCalls = calls.map(({ id, function: { name, arguments: text } }) => ({
    id,
    name,
    arguments: text,
  }));
  if (older !== undefined && calls.length === 0)
    toolCalls.push({ id: ids.next(), name: older.name, arguments: older.arguments });
  ids.called(toolCalls);
  return toolCalls.length === 0 ? undefined : toolCalls;
}

function toAssistantPart(part: AssistantPart): UnreadPart {
  return { type: "text", text: part.type === "refusal" ? part.refusal : part.text };
}

function toPart(part: ContentPart, place: string): UnreadPart {
  if (part.type === "text") return { type: "text", text: part.text };
  return { type: "image", url: part.image_url.url, place, param: `${place}.image_url.url` };
}

/** Finds the call that a result belongs to where the result has no id: chat templates need one. */
interface CallIds {
  /** An id for a call that has none. */
  next: () => string;
  /** Notes the calls of an assistant's message. */
  called: (calls: readonly ToolCall[]) => void;
  /** The id of the call that a result belongs to: the given one, else that of the first open call, preferably of this name. */
  resultOf: (given: string, name: string | undefined) => string | undefined;
}

function callIds(): CallIds {
  let count = 0;
  let open: readonly ToolCall[] = [];
  const close = (id: string | undefined): string | undefined => {
    open = open.filter((call) => call.id !== id);
    return id;
  };
  return {
    next: () => `call${String((count += 1)).padStart(5, "0")}`,
    called: (calls) => {
      open = calls;
    },
    resultOf: (given, name) => {
      if (given !== "") return close(given);
      return close((open.find((call) => call.name === name) ?? open[0])?.id);
    },
  };
}
