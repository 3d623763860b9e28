// Converts the messages of a checked messages request for the engine.
import type { Message } from "@ingle/engine";
import type { CountTokensRequest, MessageParam, ToolResultBlock } from "@ingle/protocol";
import {
  joinContents,
  joinTexts,
  toContent,
  textOfParts,
  type UnreadContent,
  type UnreadMessage,
  type UnreadPart,
} from "../../content/content-parts.ts";
import { deferredTools } from "./tools.ts";

type UserTurn = Turn<"user" | "ctx" | "msg">;
type UserBlock = Exclude<Exclude<UserTurn["content"], string>[number], ToolResultBlock>;
type ResultBlock = Exclude<NonNullable<ToolResultBlock["content"]>, string>[number];
type TextBlock = Extract<UserBlock, { type: "text" }>;
type ImageBlock = Extract<UserBlock, { type: "image" }>;
type DocumentBlock = Extract<UserBlock, { type: "document" }>;
type Turn<Role extends MessageParam["role"]> = Extract<MessageParam, { role: Role }>;

/**
 * The system prompt comes first, and there are never two consecutive messages of one role: chat templates refuse those, and for
 * clients they are one turn.
 */
export function toMessages({
  system = "",
  messages,
  tools,
}: Pick<CountTokensRequest, "system" | "messages" | "tools">): UnreadMessage[] {
  const definitions = deferredTools(tools);
  const first = textOfParts(withoutBillingLine(system));
  return mergeTurns([
    ...(first === "" ? [] : [{ role: "system", content: first }]),
    ...messages.flatMap((turn, index) => toTurn(turn, `messages[${index}].content`, definitions)),
  ]);
}

/**
 * Some clients begin the system prompt with a billing line that changes with each request, so that no prompt would ever be found
 * in the prefix cache.
 */
const billingLine = /^x-anthropic-billing-header:[^\n]*(?:\n|$)/;

function withoutBillingLine(system: NonNullable<CountTokensRequest["system"]>) {
  if (typeof system === "string") return system.replace(billingLine, "");
  const [first, ...rest] = system;
  if (first === undefined || !billingLine.test(first.text)) return system;
  const text = first.text.replace(billingLine, "");
  return text === "" ? rest : [{ ...first, text }, ...rest];
}

/** Whether the system prompt begins with a line that `toMessages` omits. */
export function hasBillingLine(system: NonNullable<CountTokensRequest["system"]>): boolean {
  return withoutBillingLine(system) !== system;
}

/** By the names of tools. */
type Definitions = ReadonlyMap<string, string>;

function toTurn(turn: MessageParam, param: string, definitions: Definitions): UnreadMessage[] {
  if (turn.role === "assistant") return [fromAssistant(turn)];
  if (turn.role === "system") return [{ role: "system", content: textOfParts(turn.content) }];
  return fromUser(turn, param, definitions);
}

/** Results come first: chat templates expect them right after the calls. */
function fromUser({ content }: UserTurn, param: string, definitions: Definitions): UnreadMessage[] {
  if (typeof content === "string") return [{ role: "user", content }];
  const results: UnreadMessage[] = [];
  const parts: UnreadPart[] = [];
  for (const [index, block] of content.entries()) {
    const place = `${param}[${index}]`;
    if (block.type === "tool_result") results.push(fromResult(block, `${place}.content`, definitions));
    else parts.push(...toParts(block, place, definitions));
  }
  if (parts.length === 0 && results.length > 0) return results;
  return [...results, { role: "user", content: toContent(parts, param, (part) => part) }];
}

/** Chat templates have no other way to mark a failure. */
function fromResult(block: ToolResultBlock, param: string, definitions: Definitions): UnreadMessage {
  const { content: given = "" } = block;
  const result =
    typeof given === "string"
      ? given
      : toContent(
          given.flatMap((each, index) => toParts(each, `${param}[${index}]`, definitions)),
          param,
          (part) => part,
        );
  const content = block.is_error === true ? afterError(result) : result;
  return { role: "tool", content, toolCallId: block.tool_use_id };
}

function afterError(content: UnreadContent): UnreadContent {
  return typeof content === "string" ? `Error: ${content}` : [{ type: "text", text: "Error: " }, ...content];
}

function fromAssistant({ content }: Turn<"assistant">): UnreadMessage {
  if (typeof content === "string") return { role: "assistant", content };
  const texts: string[] = [];
  const thoughts: string[] = [];
  const toolCalls: NonNullable<Message["toolCalls"]> = [];
  for (const block of content) {
    if (block.type === "text") texts.push(block.text);
    if (block.type === "thinking") thoughts.push(block.thinking);
    if (block.type !== "tool_use") continue;
    const { id, name, input } = block;
    toolCalls.push({ id, name, arguments: input });
  }
  return assistantMessage(joinTexts(texts), joinTexts(thoughts), toolCalls);
}

function assistantMessage(
  content: UnreadContent,
  reasoning: string,
  toolCalls: NonNullable<Message["toolCalls"]>,
): UnreadMessage {
  return {
    role: "assistant",
    content,
    ...(reasoning === "" ? {} : { reasoning }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  };
}

function toParts(block: UserBlock | ResultBlock, place: string, definitions: Definitions): UnreadPart[] {
  if (block.type === "document") return fromDocument(block, place);
  if (block.type === "search_result") {
    const { title, source, content } = block;
    return [{ type: "text", text: joinTexts([title, source, textOfParts(content)]) }];
  }
  // The prompt contains the other tools from the start, so their names are enough.
  if (block.type === "tool_reference")
    return [{ type: "text", text: definitions.get(block.tool_name) ?? block.tool_name }];
  return block.type === "text" || block.type === "image" ? [toPart(block, place)] : [];
}

/** Title and context come before the text. */
function fromDocument({ title = "", context = "", source }: DocumentBlock, place: string): UnreadPart[] {
  const head = [title, context].filter((text) => text !== "");
  const parts = head.map((text): UnreadPart => ({ type: "text", text }));
  if (source.type === "base64")
    return [...parts, { type: "document", data: source.data, param: `${place}.source.data` }];
  if (source.type === "text") return [...parts, { type: "text", text: source.data }];
  const { content } = source;
  if (typeof content === "string") return [...parts, { type: "text", text: content }];
  return [...parts, ...content.map((block, index) => toPart(block, `${place}.source.content[${index}]`))];
}

/** Converts inline image data to a data: URL. */
function toPart(block: TextBlock | ImageBlock, place: string): UnreadPart {
  if (block.type === "text") return { type: "text", text: block.text };
  const { source } = block;
  if (source.type === "url") return { type: "image", url: source.url, place, param: `${place}.source.url` };
  const url = `data:${source.media_type};base64,${source.data}`;
  return { type: "image", url, place, param: `${place}.source.data` };
}

/** Results of calls stay separate: each belongs to one call. */
function mergeTurns(messages: readonly UnreadMessage[]): UnreadMessage[] {
  const turns: UnreadMessage[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last?.role === message.role && message.role !== "tool")
      turns[turns.length - 1] = asOne(last, message);
    else turns.push(message);
  }
  return turns;
}

function asOne(one: UnreadMessage, other: UnreadMessage): UnreadMessage {
  const content = joinContents(one.content, other.content);
  if (one.role !== "assistant") return { role: one.role, content };
  const toolCalls = [...(one.toolCalls ?? []), ...(other.toolCalls ?? [])];
  const reasoning = [one.reasoning ?? "", other.reasoning ?? ""].filter((text) => text !== "");
  return assistantMessage(content, joinTexts(reasoning), toolCalls);
}
