// Converts the messages of a checked chat request for the engine.
import type { ToolCall } from "@ingle/engine";
import type { ChatMessage, ContentPart } from "@ingle/protocol";
import { callIds, type CallIds } from "../call-ids.ts";
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
  if (part.type === "image_url")
    return { type: "image", url: part.image_url.url, place, param: `${place}.image_url.url` };
  if (part.type === "input_audio")
    return { type: "audio", data: part.input_audio.data, place, param: `${place}.input_audio.data` };
  const { file_data: data, filename: name } = part.file;
  return { type: "document", data, name, param: `${place}.file.file_data` };
}
