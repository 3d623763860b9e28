// The messages of a checked chat request in the engine's names. Used by to-generation.ts.
import type { Message, ToolCall } from "@ingle/engine";
import type { ChatMessage } from "@ingle/protocol";
import { WireError } from "../wire-error.ts";

/** Objects inside objects in a call's arguments: templates write them out by recursion. */
const argumentsDepthMax = 64;

type AssistantMessage = Extract<ChatMessage, { role: "assistant" }>;

/** Throws `image_not_supported`, and `invalid_request` for calls whose arguments are no JSON object. */
export function toMessages(messages: readonly ChatMessage[]): Message[] {
  return messages.map(toMessage);
}

/** `developer` is the newer name of `system`; the templates of local models know the older one. */
function toMessage(message: ChatMessage, index: number): Message {
  const param = `messages[${index}]`;
  const content = toText(message.content, `${param}.content`);
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
    arguments: toArguments(text, `${param}.tool_calls[${index}].function.arguments`),
  }));
}

/** Templates go through the arguments one by one. Clients send the empty text for a call without any. */
function toArguments(text: string, param: string): string {
  if (text.trim() === "") return "{}";
  if (!isObject(text) || depthOf(text) > argumentsDepthMax) {
    const rule = `arguments must be a JSON object as text, nested at most ${argumentsDepthMax} deep`;
    throw new WireError("invalid_request", rule, { param });
  }
  return text;
}

function isObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Brackets in strings count, too: the depth is never less than the value's. */
function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of json) {
    if (character === "{" || character === "[") deepest = Math.max(deepest, ++depth);
    else if (character === "}" || character === "]") depth -= 1;
  }
  return deepest;
}

/** Parts are separate paragraphs to their sender: a line break keeps their words apart. */
function toText(content: ChatMessage["content"], param: string): string {
  if (content === undefined || typeof content === "string") return content ?? "";
  const texts = content.map((part, index) => {
    if (part.type === "text") return part.text;
    throw new WireError("image_not_supported", "This model reads text only; leave the image out.", {
      param: `${param}[${index}]`,
    });
  });
  return texts.join("\n");
}
