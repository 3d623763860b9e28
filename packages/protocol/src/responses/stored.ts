// Stored responses and conversations: their routes' queries and bodies, and what they return.
import { z } from "zod";

import {
  integerParameter,
  optionalField,
  requestObject,
  responseObject,
  stringField,
} from "../fields/field.ts";
import { itemList, type ResponsesInputItem } from "./input.ts";
import { metadataField, storedIdLengthMax } from "./request.ts";

const streamRule = 'stream must be "true" or "false"';

/** The query of `GET /v1/responses/{id}`. */
export const ResponseQuery = z.looseObject({
  stream: optionalField(
    z.enum(["true", "false"], streamRule).transform((value) => value === "true"),
    "Sends the events of a background response: those it has, and the next ones as they come.",
    false,
  ),
  starting_after: optionalField(
    integerParameter("starting_after", { min: 0, max: Number.MAX_SAFE_INTEGER }),
    "Only read if stream is true: sends the events after the one with this sequence_number.",
  ),
});
export type ResponseQuery = z.infer<typeof ResponseQuery>;

/** Maximum and default number of items per page, as in OpenAI's API. */
export const itemsPageMax = 100;
export const itemsPageDefault = 20;

/** Which page of items to return. */
export const ItemsQuery = z.looseObject({
  limit: optionalField(
    integerParameter("limit", { min: 1, max: itemsPageMax }),
    "Maximum number of items per page.",
    itemsPageDefault,
  ),
  order: optionalField(
    z.enum(["asc", "desc"], 'order must be "asc" or "desc"'),
    "desc begins with the newest item.",
    "desc",
  ),
  after: optionalField(
    stringField("after", { max: storedIdLengthMax }),
    "The id of an item: the page begins after it.",
  ),
});
export type ItemsQuery = z.infer<typeof ItemsQuery>;

/** An item of an input or an output, with an id. */
export type StoredItem = ResponsesInputItem & { id: string };

const part = z.record(z.string(), z.unknown());
const textOrParts = z.union([z.string(), z.array(part)]);

/** The item as routes return it: its other fields are those that were sent or generated. */
export const ListedItem = responseObject("ListedItem", {
  id: z.string(),
  type: z.string().optional().describe("The type of an input's item."),
  status: z.string().optional().describe("As it was sent or generated."),
  role: z.string().optional().describe("Of a message."),
  content: textOrParts.optional().describe("The parts of a message or of reasoning."),
  summary: z.array(part).optional().describe("Of reasoning."),
  call_id: z.string().optional().describe("Of a call and its output."),
  name: z.string().optional().describe("Of a call."),
  namespace: z.string().optional().describe("Of a call's tool."),
  arguments: z.string().optional().describe("Of a call."),
  input: z.string().optional().describe("Of a custom tool's call."),
  output: textOrParts.optional().describe("Of a call's output."),
});
export type ListedItem = z.infer<typeof ListedItem>;

/** A page of items. */
export const ItemList = responseObject("ItemList", {
  object: z.literal("list"),
  data: z.array(ListedItem),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean().describe("Whether there are more in the requested order."),
});
export type ItemList = z.infer<typeof ItemList>;

export const DeletedResponse = responseObject("DeletedResponse", {
  id: z.string(),
  object: z.literal("response"),
  deleted: z.literal(true),
});
export type DeletedResponse = z.infer<typeof DeletedResponse>;

export const Conversation = responseObject("Conversation", {
  id: z.string().describe("conv_…"),
  object: z.literal("conversation"),
  created_at: z.int().describe("Unix seconds."),
  metadata: z.record(z.string(), z.string()),
});
export type Conversation = z.infer<typeof Conversation>;

export const DeletedConversation = responseObject("DeletedConversation", {
  id: z.string(),
  object: z.literal("conversation.deleted"),
  deleted: z.literal(true),
});
export type DeletedConversation = z.infer<typeof DeletedConversation>;

/** Maximum number of items added to a conversation in one request, as in OpenAI's API. */
export const newItemsMax = 20;

export const ConversationRequest = requestObject("ConversationRequest", {
  items: optionalField(itemList(newItemsMax), "The first items."),
  metadata: optionalField(metadataField),
});
export type ConversationRequest = z.infer<typeof ConversationRequest>;

export const ConversationChange = requestObject("ConversationChange", {
  metadata: metadataField.describe("Replaces the metadata."),
});
export type ConversationChange = z.infer<typeof ConversationChange>;

export const NewItems = requestObject("NewItems", { items: itemList(newItemsMax) });
export type NewItems = z.infer<typeof NewItems>;
