// The messages of a checked chat request in the engine's names. Used by to-generation.ts.
import type { ToolCall } from "@ingle/engine";
import type { ChatMessage, ContentPart } from "@ingle/protocol";
import { toCallArguments } from "../answering/call-arguments.ts";
import { saidOf, type SaidMessage, type SaidPart } from "../answering/said.ts";

type AssistantMessage = Extract<ChatMessage, { role: "assistant" }>;

/** Throws `invalid_request` for calls whose arguments are no JSON object. */
export function toMessages(messages: readonly ChatMessage[]): SaidMessage[] {
  return messages.map(toMessage);
}

/** `developer` is the newer name of `system`; the templates of local models know the older one. */
function toMessage(message: ChatMessage, index: number): SaidMessage {
  const param = `messages[${index}]`;
  const content = saidOf(message.content ?? "", `${param}.content`, toPart);
  if (message.role === "developer") return { role: "system", content };
  if (message.role === "tool") {
    return { role: "tool", content, toolCallId: message.tool_call_id, name: message.name };
  }
  if (message.role !== "assistant") return { role: message.role, content };
  return {
    role: "assistant",
    content,
    reasoning: message.reasoning_content,
    toolCalls: toToolCalls(message, param),
  };
}

function toToolCalls({ tool_calls: calls = [] }: AssistantMessage, param: string): ToolCall[] | undefined {
  if (calls.length === 0) return undefined;
  return calls.map(({ id, function: { name, arguments: text } }, index) => ({
    id,
    name,
    arguments: toCallArguments(text, `${param}.tool_calls[${index}].function.arguments`),
  }));
}

function toPart(part: ContentPart, place: string): SaidPart {
  if (part.type === "text") return { type: "text", text: part.text };
  return { type: "image", url: part.image_url.url, place, param: `${place}.image_url.url` };
}
