// The messages of a request in Anthropic's shape: the turns of a conversation, with content as a string or as blocks.
import { z } from "zod";

import { flag, optionalField, requestObject, typeRule } from "../fields/field.ts";
import { callInputField } from "../fields/call-arguments.ts";
import {
  boundedParts,
  documentField,
  imageUrlLengthMax,
  messagesMax,
  nameField,
  partsMax,
  textField,
  TextPart,
} from "../fields/content.ts";
import { boundedArray, hasItemsAtMost, sizePrecheck } from "../fields/size-precheck.ts";

function contentRule(min: 0 | 1): string {
  const count = min === 0 ? `at most ${partsMax}` : `1 to ${partsMax}`;
  return `content must be a string or an array of ${count} content blocks`;
}
const sourceRule =
  "source must be an object whose type is base64 (with media_type and data) or url (with url)";
const messagesRule = `messages must be an array of 1 to ${messagesMax} messages`;

/** As in every protocol, a reply and the result of a tool may be an empty list. */
function blockContent<Block extends z.ZodType>(block: Block, min: 0 | 1 = 1) {
  const rule = contentRule(min);
  const blocks = z.array(block, rule).min(min, rule).max(partsMax, rule);
  return sizePrecheck(z.union([textField("content"), blocks], rule), hasItemsAtMost(partsMax), rule);
}

type TypedBlock = z.ZodObject<{ type: z.ZodLiteral<string> }, z.core.$loose>;

/** Content with blocks of these types. `whose` begins the error for any other type. */
function contentOfBlocks<const Blocks extends readonly [TypedBlock, ...TypedBlock[]]>(
  whose: string,
  blocks: Blocks,
  min: 0 | 1 = 1,
) {
  const types = blocks.flatMap(({ shape }) => [...shape.type.values]);
  const words = [types.slice(0, -1).join(", "), types.at(-1)].filter((part) => part !== "").join(" or ");
  return blockContent(
    z.discriminatedUnion("type", blocks, typeRule(`${whose} must be an object whose type is ${words}`)),
    min,
  );
}

const imageData = z.string(sourceRule).min(1, sourceRule).max(imageUrlLengthMax, "the image is too long");

/** An image inside a user's message or a tool's result. */
const ImageBlock = requestObject("ImageBlock", {
  type: z.literal("image"),
  source: z.discriminatedUnion(
    "type",
    [
      z.looseObject({ type: z.literal("base64"), media_type: z.string(sourceRule), data: imageData }),
      z.looseObject({ type: z.literal("url"), url: imageData }),
    ],
    sourceRule,
  ),
});

const documentRule =
  "source must be an object whose type is base64 (with media_type and data), text (with data) or content (a text, or text and image blocks); documents are neither fetched nor uploaded";

/** A document, of which the model gets the text, inside a user's message or a tool's result. */
const DocumentBlock = requestObject("DocumentBlock", {
  type: z.literal("document"),
  title: optionalField(textField("title")),
  context: optionalField(textField("context")),
  source: z.discriminatedUnion(
    "type",
    [
      z.looseObject({
        type: z.literal("base64"),
        media_type: z.string(documentRule),
        data: documentField("data"),
      }),
      z.looseObject({ type: z.literal("text"), data: textField("data") }),
      z.looseObject({
        type: z.literal("content"),
        content: blockContent(z.discriminatedUnion("type", [TextPart, ImageBlock], documentRule)),
      }),
    ],
    documentRule,
  ),
});

/** A tool that a tool search has found. */
const ToolReferenceBlock = requestObject("ToolReferenceBlock", {
  type: z.literal("tool_reference"),
  tool_name: nameField("tool_name"),
});

/** The system prompt, as a string or as blocks; no blocks mean none. */
export const TextContent = contentOfBlocks("a content block here", [TextPart], 0);

/** A result of a search, of which the model gets the text. */
const SearchResultBlock = requestObject("SearchResultBlock", {
  type: z.literal("search_result"),
  title: textField("title"),
  source: textField("source"),
  content: blockContent(TextPart),
});

/** The state of a browser that another service's tools use. It is left out, and a response header says so. */
const BrowserStateBlock = requestObject("BrowserStateBlock", { type: z.literal("browser_state") });

/** The result of a call. */
const ToolResultBlock = requestObject("ToolResultBlock", {
  type: z.literal("tool_result"),
  tool_use_id: nameField("tool_use_id"),
  content: optionalField(
    contentOfBlocks(
      "a content block of a tool_result",
      [TextPart, ImageBlock, DocumentBlock, SearchResultBlock, ToolReferenceBlock, BrowserStateBlock],
      0,
    ),
  ),
  is_error: flag(
    "is_error",
    "Puts `Error: ` before the text, because chat templates have no field for it.",
    false,
  ),
});
export type ToolResultBlock = z.infer<typeof ToolResultBlock>;

/** A call that an earlier reply made. */
const ToolUseBlock = requestObject("ToolUseBlock", {
  type: z.literal("tool_use"),
  id: nameField("id"),
  name: nameField("name"),
  input: callInputField,
});

/** The reasoning of an earlier reply. */
const ThinkingBlock = requestObject("ThinkingBlock", {
  type: z.literal("thinking"),
  thinking: textField("thinking"),
  signature: optionalField(textField("signature"), "Ignored: the server signs nothing."),
});

/** Reasoning that only another service can read. */
const RedactedThinkingBlock = requestObject("RedactedThinkingBlock", {
  type: z.literal("redacted_thinking"),
});

/**
 * Calls and results of tools that another service ran, in conversations that began there. They are left out, and a response
 * header says so.
 */
const ServerToolBlock = requestObject("ServerToolBlock", {
  type: z.literal([
    "server_tool_use",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "advisor_tool_result",
    "container_upload",
    "mcp_tool_use",
    "mcp_tool_result",
  ]),
});

/** `ctx` and `msg` are what Claude Code also calls turns of the user. */
const UserTurn = z.looseObject({
  role: z.literal(["user", "ctx", "msg"]),
  content: contentOfBlocks("a content block of a user", [
    TextPart,
    ImageBlock,
    DocumentBlock,
    SearchResultBlock,
    ToolResultBlock,
  ]),
});

const AssistantTurn = z.looseObject({
  role: z.literal("assistant"),
  content: contentOfBlocks(
    "a content block of an assistant",
    [TextPart, ThinkingBlock, RedactedThinkingBlock, ToolUseBlock, ServerToolBlock],
    0,
  ),
});

const SystemTurn = z.looseObject({
  role: z.literal("system"),
  content: contentOfBlocks("a content block of a system message", [TextPart]),
});

/** One turn of a conversation; consecutive messages of one role are one turn. */
export const MessageParam = z
  .discriminatedUnion(
    "role",
    [UserTurn, AssistantTurn, SystemTurn],
    "a message must be an object whose role is user, assistant or system",
  )
  .meta({ id: "MessageParam" });
export type MessageParam = z.infer<typeof MessageParam>;

const unseenTypes: ReadonlySet<string> = new Set([
  ...ServerToolBlock.shape.type.values,
  ...BrowserStateBlock.shape.type.values,
]);

/** The types of blocks in these messages, and in the results of tools, that the model does not see. */
export function unseenBlocks(messages: readonly MessageParam[]): Set<string> {
  const types = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content.map(typesIn)));
  return new Set(types.flat().filter((type) => unseenTypes.has(type)));
}

/** The type of a block, and those of its blocks. */
function typesIn({ type, content }: { type: string; content?: unknown }): string[] {
  const inner = Array.isArray(content) ? content.map((block: { type: string }) => block.type) : [];
  return [type, ...inner];
}

/** The conversation of a request: at least one message. */
export const MessageParams = boundedParts(
  boundedArray(MessageParam, messagesRule, { min: 1, max: messagesMax }),
  "messages",
);
export type MessageParams = z.infer<typeof MessageParams>;
