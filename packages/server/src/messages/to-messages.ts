// The turns of a request in Anthropic's shape as the engine's messages. Used by to-generation.ts.
import type { Message } from "@ingle/engine";
import type { CountTokensRequest, MessageParam, ToolResultBlock } from "@ingle/protocol";
import { writeCallArguments } from "../answering/call-arguments.ts";
import { contentText, joinTexts, refuseImage } from "../answering/content-text.ts";

type Turn<Role extends MessageParam["role"]> = Extract<MessageParam, { role: Role }>;

/**
 * The system prompt first, and never two messages of one role in a row: templates refuse them, and to their sender they are
 * one turn. Throws `image_not_supported`, and `invalid_request` for calls whose input is nested too deeply.
 */
export function toMessages({
  system = "",
  messages,
}: Pick<CountTokensRequest, "system" | "messages">): Message[] {
  const first = contentText(system, "system", textOf);
  return merged([
    ...(first === "" ? [] : [{ role: "system", content: first }]),
    ...messages.flatMap((turn, index) => toTurn(turn, `messages[${index}].content`)),
  ]);
}

function toTurn(turn: MessageParam, param: string): Message[] {
  if (turn.role === "user") return fromUser(turn, param);
  if (turn.role === "assistant") return [fromAssistant(turn, param)];
  return [{ role: "system", content: contentText(turn.content, param, textOf) }];
}

/** What calls gave comes first: templates want it right behind the calls. */
function fromUser({ content }: Turn<"user">, param: string): Message[] {
  if (typeof content === "string") return [{ role: "user", content }];
  const results: Message[] = [];
  const texts: string[] = [];
  for (const [index, block] of content.entries()) {
    const place = `${param}[${index}]`;
    if (block.type === "tool_result") results.push(fromResult(block, `${place}.content`));
    else texts.push(textOf(block) ?? refuseImage(place));
  }
  if (texts.length === 0 && results.length > 0) return results;
  return [...results, { role: "user", content: joinTexts(texts) }];
}

/** Templates have no other way to tell a failure. */
function fromResult(block: ToolResultBlock, param: string): Message {
  const text = contentText(block.content ?? "", param, textOf);
  const content = block.is_error === true ? `Error: ${text}` : text;
  return { role: "tool", content, toolCallId: block.tool_use_id };
}

function fromAssistant({ content }: Turn<"assistant">, param: string): Message {
  if (typeof content === "string") return { role: "assistant", content };
  const texts: string[] = [];
  const thoughts: string[] = [];
  const toolCalls: NonNullable<Message["toolCalls"]> = [];
  for (const [index, block] of content.entries()) {
    if (block.type === "text") texts.push(block.text);
    if (block.type === "thinking") thoughts.push(block.thinking);
    if (block.type !== "tool_use") continue;
    const { id, name, input } = block;
    toolCalls.push({ id, name, arguments: writeCallArguments(input, `${param}[${index}].input`) });
  }
  return assistantMessage(joinTexts(texts), joinTexts(thoughts), toolCalls);
}

function assistantMessage(
  content: string,
  reasoning: string,
  toolCalls: NonNullable<Message["toolCalls"]>,
): Message {
  return {
    role: "assistant",
    content,
    ...(reasoning === "" ? {} : { reasoning }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  };
}

function textOf(block: { type: "text"; text: string } | { type: "image" }): string | undefined {
  return block.type === "text" ? block.text : undefined;
}

/** The results of calls stay apart: each belongs to one call. */
function merged(messages: readonly Message[]): Message[] {
  const turns: Message[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last?.role === message.role && message.role !== "tool")
      turns[turns.length - 1] = asOne(last, message);
    else turns.push(message);
  }
  return turns;
}

function asOne(one: Message, other: Message): Message {
  const content = joinSaid(one.content, other.content);
  if (one.role !== "assistant") return { role: one.role, content };
  const toolCalls = [...(one.toolCalls ?? []), ...(other.toolCalls ?? [])];
  return assistantMessage(content, joinSaid(one.reasoning ?? "", other.reasoning ?? ""), toolCalls);
}

function joinSaid(...texts: readonly string[]): string {
  return joinTexts(texts.filter((text) => text !== ""));
}
