// The input of a request to /v1/responses: one text, or the items of a conversation.
import { z } from "zod";

import { optionalField, refusedField, refuseField, stringField, typeRule } from "../fields/field.ts";
import { boundedArguments, callArgumentsField } from "../fields/call-arguments.ts";
import {
  AudioPart,
  boundedParts,
  contentSchema,
  documentField,
  imageUrlField,
  messagesMax,
  nameField,
  nameLengthMax,
  partsMax,
  textField,
  textLengthMax,
} from "../fields/content.ts";
import { boundedArray, hasItemsAtMost, sizePrecheck } from "../fields/size-precheck.ts";

const InputText = z.looseObject({ type: z.literal("input_text"), text: textField("text") });
const OutputText = z.looseObject({ type: z.literal("output_text"), text: textField("text") });
const Refusal = z.looseObject({ type: z.literal("refusal"), refusal: textField("refusal") });
const InputImage = z.looseObject({
  type: z.literal("input_image"),
  file_id: refusedField("images cannot be uploaded: send the image itself in image_url"),
  image_url: imageUrlField("image_url"),
  detail: optionalField(
    stringField("detail", { max: nameLengthMax }),
    "Ignored: the server's settings decide the resolution of images.",
  ),
});

const InputFile = z.looseObject({
  type: z.literal("input_file"),
  file_id: refusedField("files cannot be uploaded: send the document itself in file_data"),
  file_url: refusedField("documents are not fetched: send the document itself in file_data"),
  file_data: documentField("file_data"),
  filename: optionalField(stringField("filename", { max: nameLengthMax })),
});

/** A part of a message, or of the result of a call. */
export const ResponsesContentPart = z
  .discriminatedUnion(
    "type",
    [InputText, OutputText, Refusal, InputImage, InputFile, AudioPart],
    typeRule(
      "a content part must be an object of type input_text, output_text, refusal, input_image, input_file or input_audio",
    ),
  )
  .meta({ id: "ResponsesContentPart" });
export type ResponsesContentPart = z.infer<typeof ResponsesContentPart>;

/** A message. An item without a type is one too. */
const MessageItem = z
  .looseObject({
    type: optionalField(z.literal("message")),
    role: z.enum(
      ["user", "assistant", "system", "developer"],
      "an item without a type is a message, whose role must be user, assistant, system or developer",
    ),
    content: contentSchema(ResponsesContentPart, { min: 0 }),
  })
  .superRefine(({ role, content }, context) => {
    if (role !== "assistant" && content.length === 0 && typeof content !== "string")
      refuseField(context, "content", "content may be an empty array only in a message of the assistant");
  });

/** The namespace of the tool that a call is of. */
const namespace = optionalField(nameField("namespace"));

/** A call that an earlier reply made. */
const FunctionCallItem = z.looseObject({
  type: z.literal("function_call"),
  call_id: nameField("call_id"),
  name: nameField("name"),
  namespace,
  arguments: callArgumentsField,
});

/** The result of a call. */
const FunctionCallOutputItem = z.looseObject({
  type: z.literal("function_call_output"),
  call_id: nameField("call_id"),
  output: contentSchema(ResponsesContentPart, { name: "output", min: 0 }),
});

/** A call of a tool with a text as its only argument. */
const CustomToolCallItem = z.looseObject({
  type: z.literal("custom_tool_call"),
  call_id: nameField("call_id"),
  name: nameField("name"),
  namespace,
  input: textField("input"),
});

const CustomToolCallOutputItem = z.looseObject({
  type: z.literal("custom_tool_call_output"),
  call_id: nameField("call_id"),
  output: contentSchema(ResponsesContentPart, { name: "output", min: 0 }),
});

/**
 * Calls and results of tools that only another service's models know, in conversations that began there. They are left out, and a
 * response header says so.
 */
const OtherToolItem = z.looseObject({
  type: z.literal([
    "web_search_call",
    "file_search_call",
    "image_generation_call",
    "code_interpreter_call",
    "local_shell_call",
    "local_shell_call_output",
    "tool_search_call",
    "tool_search_output",
    "mcp_list_tools",
    "mcp_call",
    "mcp_approval_request",
    "mcp_approval_response",
    "computer_call",
    "computer_call_output",
    "shell_call",
    "shell_call_output",
    "apply_patch_call",
    "apply_patch_call_output",
    "additional_tools",
    "program",
    "program_output",
  ]),
});

function texts<Type extends string>(field: string, type: Type) {
  const rule = `${field} must be an array of at most ${partsMax} objects of type ${type}`;
  const part = z.looseObject({ type: z.literal(type, rule), text: textField("text") }, rule);
  return optionalField(boundedArray(part, rule, { max: partsMax }));
}

/** The reasoning of an earlier reply, as the response returned it. */
const ReasoningItem = z.looseObject({
  type: z.literal("reasoning"),
  content: texts("content", "reasoning_text"),
  /** Only used if there is no content. */
  summary: texts("summary", "summary_text"),
});

/** Items without which the conversation would be another one. */
const refusedItems = new Map([
  [
    "item_reference",
    "items cannot be referred to one by one: send the item itself, a previous_response_id or a conversation instead of an item_reference",
  ],
  [
    "compaction",
    "a compaction item can only be read by the service that wrote it: send the items themselves",
  ],
  ["compaction_trigger", "conversations are not compacted here: leave out the compaction_trigger"],
]);

/** One item of a conversation; its `type` determines the other fields. */
export const ResponsesInputItem = z
  .discriminatedUnion(
    "type",
    [
      MessageItem,
      FunctionCallItem,
      FunctionCallOutputItem,
      CustomToolCallItem,
      CustomToolCallOutputItem,
      ReasoningItem,
      OtherToolItem,
    ],
    typeRule(
      "an item must be an object of type message, function_call, function_call_output or reasoning",
      refusedItems,
    ),
  )
  .meta({ id: "ResponsesInputItem" });
export type ResponsesInputItem = z.infer<typeof ResponsesInputItem>;

type OtherToolItem = z.infer<typeof OtherToolItem>;
const otherToolTypes: ReadonlySet<unknown> = OtherToolItem.shape.type.values;

/** Whether the model does not see this item. */
export function isUnseenItem(item: ResponsesInputItem): item is OtherToolItem {
  return otherToolTypes.has(item.type);
}

const inputRule = `input must be a string of at most ${textLengthMax} characters, or an array of at most ${messagesMax} items`;

/** The whole input. */
export const ResponsesInput = boundedParts(
  boundedArguments(
    sizePrecheck(
      z.union(
        [
          z.string(inputRule).max(textLengthMax, inputRule),
          z.array(ResponsesInputItem, inputRule).max(messagesMax, inputRule),
        ],
        inputRule,
      ),
      hasItemsAtMost(messagesMax),
      inputRule,
    ),
  ),
  "input",
);
export type ResponsesInput = z.infer<typeof ResponsesInput>;

/** The items of an input: a text is a message of the user. */
export function inputItems(input: ResponsesInput = []): readonly ResponsesInputItem[] {
  return typeof input === "string" ? [{ role: "user", content: input }] : input;
}

/** Up to `max` items to add to a conversation in one request. */
export function itemList(max: number) {
  const rule = `items must be an array of at most ${max} items`;
  return boundedParts(boundedArguments(boundedArray(ResponsesInputItem, rule, { max })), "items");
}
