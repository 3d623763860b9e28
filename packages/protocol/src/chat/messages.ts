// The messages of a chat request: roles, and content as a string or as parts.
import { z } from "zod";

import {
  optionalField,
  refusedField,
  refuseField,
  requestObject,
  stringField,
  typeRule,
} from "../fields/field.ts";
import { boundedArguments, callArgumentsField, callArgumentsText } from "../fields/call-arguments.ts";
import {
  AudioPart,
  boundedParts,
  contentSchema,
  documentField,
  imageUrlField,
  messagesMax,
  nameField,
  nameLengthMax,
  textField,
  TextPart,
} from "../fields/content.ts";
import { boundedArray } from "../fields/size-precheck.ts";

/** Maximum number of tool calls per assistant message. */
export const toolCallsMax = 128;

const name = nameField("name");

/** An optional name or id; the empty string means none. */
function optionalName(field: string) {
  return optionalField(stringField(field, { max: nameLengthMax }));
}

const speakerName = optionalName("name");

/** An image inside a user's message. */
export const ImagePart = requestObject("ImagePart", {
  type: z.literal("image_url", 'type must be "image_url"'),
  image_url: z.looseObject(
    {
      url: imageUrlField("url"),
      detail: optionalField(
        z.string("detail must be a string").max(nameLengthMax),
        "Ignored: the server's settings decide the resolution of images.",
      ),
    },
    "image_url must be an object with a url",
  ),
});
export type ImagePart = z.infer<typeof ImagePart>;

/** A document inside a user's message. The model gets its text. */
const FilePart = requestObject("FilePart", {
  type: z.literal("file", 'type must be "file"'),
  file: z.looseObject(
    {
      file_id: refusedField("files cannot be uploaded: send the document itself in file_data"),
      file_data: documentField("file_data"),
      filename: optionalField(stringField("filename", { max: nameLengthMax }), "Comes before the text."),
    },
    "file must be an object with file_data",
  ),
});

/** One part of a user's message. */
export const ContentPart = z
  .discriminatedUnion(
    "type",
    [TextPart, ImagePart, FilePart, AudioPart],
    'a content part must be an object of type "text", "image_url", "file" or "input_audio"',
  )
  .meta({ id: "ContentPart" });
export type ContentPart = z.infer<typeof ContentPart>;

function toolCallSchema<Arguments extends z.ZodType>(callArguments: Arguments) {
  return z.looseObject(
    {
      id: nameField("id"),
      type: z.literal("function", typeRule('the type of a call must be "function"')),
      function: z.looseObject(
        { name, arguments: callArguments },
        "function must be an object with a name and arguments",
      ),
    },
    "a tool call must be an object",
  );
}

/** A function call that the model requested. */
export const ToolCall = toolCallSchema(callArgumentsText).meta({ id: "ToolCall" });
export type ToolCall = z.infer<typeof ToolCall>;

/** The same in a request that sends it back. */
const EarlierToolCall = toolCallSchema(callArgumentsField).meta({ id: "EarlierToolCall" });

/** An assistant's refusal, as other services return it. */
const RefusalPart = requestObject("RefusalPart", {
  type: z.literal("refusal"),
  refusal: textField("refusal"),
});

const textContent = contentSchema(TextPart);
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
  content: contentSchema(ContentPart),
  name: speakerName,
});
const ToolMessage = z.looseObject({
  role: z.literal("tool"),
  content: contentSchema(ContentPart, { min: 0 }),
  tool_call_id: optionalName("tool_call_id"),
  name: speakerName,
});
/** The result of a call, in the older form of the API. */
const FunctionMessage = z.looseObject({
  role: z.literal("function"),
  content: optionalField(contentSchema(TextPart, { min: 0 })),
  name,
});
const AssistantMessage = z
  .looseObject({
    role: z.literal("assistant"),
    content: optionalField(
      contentSchema(z.discriminatedUnion("type", [TextPart, RefusalPart], refusalOrTextRule), { min: 0 }),
    ),
    refusal: optionalField(
      textField("refusal"),
      "The assistant's refusal; only read if there is no content.",
    ),
    reasoning_content: optionalField(
      textField("reasoning_content"),
      "The model's reasoning before its reply, as in the message of a response.",
    ),
    name: speakerName,
    tool_calls: optionalField(
      boundedArray(EarlierToolCall, "tool_calls must be an array", {
        max: toolCallsMax,
        countRule: `tool_calls must have at most ${toolCallsMax} entries`,
      }),
    ),
    function_call: optionalField(
      z.looseObject({ name, arguments: callArgumentsField }, "function_call must have a name and arguments"),
      "A call in the older form of the API.",
    ),
  })
  .superRefine((message, context) => {
    const {
      content,
      refusal,
      reasoning_content: thoughts,
      tool_calls: calls = [],
      function_call: call,
    } = message;
    // A reply that was cut or cancelled may be thoughts only.
    if ([content, refusal, thoughts, call].some((part) => part !== undefined) || calls.length > 0) return;
    refuseField(
      context,
      "content",
      "content may be null or absent only in an assistant message with tool_calls, reasoning_content or a refusal",
    );
  });

/** One message of a conversation; its `role` determines the other fields. */
export const ChatMessage = z
  .discriminatedUnion(
    "role",
    [SystemMessage, DeveloperMessage, UserMessage, AssistantMessage, ToolMessage, FunctionMessage],
    "a message must be an object whose role is system, developer, user, assistant, tool or function",
  )
  .meta({ id: "ChatMessage" });
export type ChatMessage = z.infer<typeof ChatMessage>;

const messagesRule = `messages must be an array of 1 to ${messagesMax} messages`;

/** The conversation of a request: at least one message. */
export const ChatMessages = boundedParts(
  boundedArguments(boundedArray(ChatMessage, messagesRule, { min: 1, max: messagesMax })),
  "messages",
);
export type ChatMessages = z.infer<typeof ChatMessages>;
