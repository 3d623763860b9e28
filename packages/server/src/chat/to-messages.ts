// The messages of a checked chat request in the engine's names. Used by to-generation.ts.
import type { Message, ToolCall } from "@ingle/engine";
import type { ChatMessage, ContentPart } from "@ingle/protocol";
import { toCallArguments } from "../answering/call-arguments.ts";
import { contentText } from "../answering/content-text.ts";

type AssistantMessage = Extract<ChatMessage, { role: "assistant" }>;

/** Throws `image_not_supported`, and `invalid_request` for calls whose arguments are no JSON object. */
export function toMessages(messages: readonly ChatMessage[]): Message[] {
  return messages.map(toMessage);
}

/** `developer` is the newer name of `system`; the templates of local models know the older one. */
function toMessage(message: ChatMessage, index: number): Message {
  const param = `messages[${index}]`;
  const content = contentText(message.content ?? "", `${param}.content`, textOf);
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

function textOf(part: ContentPart): string | undefined {
  return part.type === "text" ? part.text : undefined;
}
