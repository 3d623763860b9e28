// The messages of a chat request: roles, and content as a string or as parts. Used by chat.ts, and for what messages
// are made of everywhere by responses/input.ts.
import { z } from "zod";

import { optionalField } from "./absent.ts";
import { boundedArguments, callArgumentsField, callArgumentsText } from "./call-arguments.ts";
import { arrayOf, hasItemsAtMost, inBounds } from "./in-bounds.ts";

/** Most messages of one request: longer than any context holds as a conversation. */
export const messagesMax = 10_000;

/** Most content parts of one message. */
export const partsMax = 1_000;

/** Most content parts of all messages together: each wrong one is an issue, and one body has room for millions. */
export const partsOfAllMax = 20_000;

/** Most UTF-16 units of one text: about two million tokens of English, more than any context holds. */
export const textLengthMax = 8 * 1024 * 1024;

/** Most UTF-16 units of an image's URL: base64 of an image of 48 MiB. */
export const imageUrlLengthMax = 64 * 1024 * 1024;

/** Most tool calls of one assistant message. */
export const toolCallsMax = 128;

/** Most UTF-16 units of a name or an id inside a message. */
export const nameLengthMax = 256;

const nameRule = `must be a string of 1 to ${nameLengthMax} characters`;

/** A name or an id. */
export function nameField(field: string) {
  const rule = `${field} ${nameRule}`;
  return z.string(rule).min(1, rule).max(nameLengthMax, rule);
}

/** A text, by its wire name. */
export function textField(field: string) {
  const rule = `${field} must be a string of at most ${textLengthMax} characters`;
  return z.string(rule).max(textLengthMax, rule);
}

/** An image's URL, by its wire name. What stands behind it is checked where the image is read, not here. */
export function imageUrlField(field: string) {
  const rule = `${field} must be a data URL of the form data:<mime type>;base64,<data>`;
  return z.string(rule).min(1, rule).max(imageUrlLengthMax, rule);
}

/** A text or several parts, by its wire name. */
export function contentOf<Part extends z.ZodType>(part: Part, field = "content") {
  const rule = `${field} must be a string or an array of 1 to ${partsMax} content parts`;
  const text = z.string(rule).max(textLengthMax, `${field} must be at most ${textLengthMax} characters`);
  const parts = z.array(part, rule).min(1, rule).max(partsMax, rule);
  return inBounds(z.union([text, parts], rule), hasItemsAtMost(partsMax), rule);
}

const name = nameField("name");

/** A name or an id that may be left out; the empty one says nothing. */
function optionalName(field: string) {
  const rule = `${field} must be a string of at most ${nameLengthMax} characters`;
  return optionalField(z.string(rule).max(nameLengthMax, rule));
}

const speakerName = optionalName("name");

/** A piece of text inside a message. */
export const TextPart = z
  .looseObject({
    type: z.literal("text", 'type must be "text"'),
    text: textField("text"),
  })
  .meta({ id: "TextPart" });
export type TextPart = z.infer<typeof TextPart>;

/** An image inside a user's message. */
export const ImagePart = z
  .looseObject({
    type: z.literal("image_url", 'type must be "image_url"'),
    image_url: z.looseObject(
      {
        url: imageUrlField("url"),
        detail: optionalField(z.string("detail must be a string").max(nameLengthMax), {
          description: "Ignored: how closely an image is looked at is the server's setting.",
        }),
      },
      "image_url must be an object with a url",
    ),
  })
  .meta({ id: "ImagePart" });
export type ImagePart = z.infer<typeof ImagePart>;

/** One part of a user's message. */
export const ContentPart = z
  .discriminatedUnion(
    "type",
    [TextPart, ImagePart],
    'a content part must be an object of type "text" or "image_url"',
  )
  .meta({ id: "ContentPart" });
export type ContentPart = z.infer<typeof ContentPart>;

function toolCallWith<Arguments extends z.ZodType>(callArguments: Arguments) {
  return z.looseObject(
    {
      id: nameField("id"),
      type: z.literal("function", 'type must be "function"'),
      function: z.looseObject(
        { name, arguments: callArguments },
        "function must be an object with a name and arguments",
      ),
    },
    "a tool call must be an object",
  );
}

/** A call of a function that the model asked for. */
export const ToolCall = toolCallWith(callArgumentsText).meta({ id: "ToolCall" });
export type ToolCall = z.infer<typeof ToolCall>;

/** The same as a request sends it back. */
const EarlierToolCall = toolCallWith(callArgumentsField).meta({ id: "EarlierToolCall" });

/** What an assistant would not do, as an answer of another service tells it. */
export const RefusalPart = z
  .looseObject({ type: z.literal("refusal"), refusal: textField("refusal") })
  .meta({ id: "RefusalPart" });

const textContent = contentOf(TextPart);
const refusalOrTextRule = 'a content part of an assistant must be an object of type "text" or "refusal"';

const SystemMessage = z.looseObject({
  role: z.literal("system"),
  content: textContent,
  name: speakerName,
});
const DeveloperMessage = z.looseObject({
  role: z.literal("developer"),
  content: textContent,
  name: speakerName,
});
const UserMessage = z.looseObject({
  role: z.literal("user"),
  content: contentOf(ContentPart),
  name: speakerName,
});
const ToolMessage = z.looseObject({
  role: z.literal("tool"),
  content: contentOf(ContentPart),
  tool_call_id: optionalName("tool_call_id"),
  name: speakerName,
});
/** What a call gave, in the older form of the convention. */
const FunctionMessage = z.looseObject({
  role: z.literal("function"),
  content: optionalField(textContent),
  name,
});
const AssistantMessage = z
  .looseObject({
    role: z.literal("assistant"),
    content: optionalField(
      contentOf(z.discriminatedUnion("type", [TextPart, RefusalPart], refusalOrTextRule)),
    ),
    refusal: optionalField(textField("refusal"), {
      description: "Read where there is no content: what the assistant would not do.",
    }),
    reasoning_content: optionalField(textField("reasoning_content"), {
      description: "What the model thought before it answered, as an answer's message has it.",
    }),
    name: speakerName,
    tool_calls: optionalField(
      arrayOf(EarlierToolCall, "tool_calls must be an array", {
        max: toolCallsMax,
        ofCount: `tool_calls must have at most ${toolCallsMax} entries`,
      }),
    ),
    function_call: optionalField(
      z.looseObject({ name, arguments: callArgumentsField }, "function_call must have a name and arguments"),
      { description: "A call in the older form of the convention." },
    ),
  })
  .superRefine((message, context) => {
    const { content, refusal, tool_calls: calls = [], function_call: call } = message;
    if (content !== undefined || refusal !== undefined || calls.length > 0 || call !== undefined) return;
    context.addIssue({
      code: "custom",
      path: ["content"],
      message: "content may be null or absent only in an assistant message with tool_calls or a refusal",
    });
  });

/** One message of a conversation; its `role` decides what else it holds. */
export const ChatMessage = z
  .discriminatedUnion(
    "role",
    [SystemMessage, DeveloperMessage, UserMessage, AssistantMessage, ToolMessage, FunctionMessage],
    "a message must be an object whose role is system, developer, user, assistant, tool or function",
  )
  .meta({ id: "ChatMessage" });
export type ChatMessage = z.infer<typeof ChatMessage>;

/** Messages or items, whose parts are counted before they are looked at. */
export function boundedParts<Messages extends z.ZodType>(messages: Messages, field: string) {
  const rule = `${field} must have at most ${partsOfAllMax} content parts in all`;
  const isInBounds = (value: unknown) =>
    !Array.isArray(value) || value.length > messagesMax || partsOf(value) <= partsOfAllMax;
  return inBounds(messages, isInBounds, rule);
}

/** Whatever the field is called that they stand in, and whatever they are. Those that a part holds count, too. */
function partsOf(messages: readonly unknown[]): number {
  const parts = messages.flatMap(arraysOf);
  const outer = sumOfLengths(parts);
  if (outer > partsOfAllMax) return outer; // millions of parts are not looked into
  return outer + sumOfLengths(parts.flatMap((those) => those.flatMap(arraysOf)));
}

function sumOfLengths(arrays: readonly (readonly unknown[])[]): number {
  return arrays.reduce((sum, { length }) => sum + length, 0);
}

function arraysOf(holder: unknown): unknown[][] {
  if (typeof holder !== "object" || holder === null) return [];
  return Object.values(holder).filter((value) => Array.isArray(value));
}

const messagesRule = `messages must be an array of 1 to ${messagesMax} messages`;

/** The conversation of a request: at least one message. */
export const ChatMessages = boundedParts(
  boundedArguments(arrayOf(ChatMessage, messagesRule, { min: 1, max: messagesMax })),
  "messages",
);
export type ChatMessages = z.infer<typeof ChatMessages>;
