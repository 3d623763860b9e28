// /v1/conversations: stored conversations and their items.
import {
  Conversation,
  ConversationChange,
  ConversationRequest,
  DeletedConversation,
  ItemList,
  ItemsQuery,
  ListedItem,
  NewItems,
} from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import { addRoute, type Route } from "../../../http/add-route.ts";
import { toUnixSeconds } from "../../../seconds.ts";
import { WireError } from "../../../wire-error.ts";
import type { InferenceOptions } from "../../../generation/inference.ts";
import { itemsPage, toStoredItems } from "./stored-items.ts";
import type { StoredResponses } from "./stored-responses.ts";

const ofConversation = {
  right: "inference",
  errors: ["not_found", "disk_full"],
  namesNoModel: true,
  id: "The id of a conversation.",
} as const satisfies Partial<Route>;

const create = {
  path: "POST /v1/conversations",
  ...ofConversation,
  body: ConversationRequest,
  summary: "Create a conversation, which responses continue and add to",
  responses: { 200: Conversation },
  example: { items: [{ role: "user", content: "Hello!" }], metadata: { topic: "demo" } },
} satisfies Route;
const retrieve = {
  path: "GET /v1/conversations/:id",
  ...ofConversation,
  summary: "A conversation without its items",
  responses: { 200: Conversation },
} satisfies Route;
const change = {
  path: "POST /v1/conversations/:id",
  ...ofConversation,
  body: ConversationChange,
  summary: "Change a conversation's metadata",
  responses: { 200: Conversation },
  example: { metadata: { topic: "demo" } },
} satisfies Route;
const remove = {
  path: "DELETE /v1/conversations/:id",
  ...ofConversation,
  summary: "Delete a conversation with its items",
  responses: { 200: DeletedConversation },
} satisfies Route;
const listItems = {
  path: "GET /v1/conversations/:id/items",
  ...ofConversation,
  query: ItemsQuery,
  summary: "The items of a conversation",
  responses: { 200: ItemList },
} satisfies Route;
const addItems = {
  path: "POST /v1/conversations/:id/items",
  ...ofConversation,
  body: NewItems,
  summary: "Add items to a conversation",
  responses: { 200: ItemList },
  example: { items: [{ role: "user", content: "Hello!" }] },
} satisfies Route;
const retrieveItem = {
  path: "GET /v1/conversations/:id/items/:item_id",
  ...ofConversation,
  summary: "One item of a conversation",
  responses: { 200: ListedItem },
} satisfies Route;
const removeItem = {
  path: "DELETE /v1/conversations/:id/items/:item_id",
  ...ofConversation,
  summary: "Delete one item of a conversation",
  responses: { 200: Conversation },
} satisfies Route;

export function addConversations(
  app: FastifyInstance,
  { stored, now, newId }: Pick<InferenceOptions, "now" | "newId"> & { stored: StoredResponses },
): void {
  addRoute(app, create, async (request): Promise<Conversation> => {
    const { items = [], metadata = {} } = request.body;
    const conversation: Conversation = {
      id: `conv_${newId()}`,
      object: "conversation",
      created_at: toUnixSeconds(now()),
      metadata,
    };
    stored.conversations.put({ conversation, items: toStoredItems(items, { newId }) }, request.owner);
    return conversation;
  });

  addRoute(app, retrieve, async (request) => {
    return stored.conversations.find(request.params.id, request.owner).conversation;
  });

  addRoute(app, change, async (request): Promise<Conversation> => {
    const owner = request.owner;
    const { conversation, items } = stored.conversations.find(request.params.id, owner);
    const changed = { ...conversation, metadata: request.body.metadata };
    stored.conversations.put({ conversation: changed, items }, owner);
    return changed;
  });

  addRoute(app, remove, async (request): Promise<DeletedConversation> => {
    const { id } = request.params;
    stored.conversations.delete(id, request.owner);
    return { id, object: "conversation.deleted", deleted: true };
  });

  addRoute(app, listItems, async (request) => {
    const { items } = stored.conversations.find(request.params.id, request.owner);
    return itemsPage(items, request.query);
  });

  addRoute(app, addItems, async (request): Promise<ItemList> => {
    const { id } = request.params;
    const owner = request.owner;
    const { items: others } = stored.conversations.find(id, owner);
    const added = toStoredItems(request.body.items, { newId, others });
    stored.conversations.add(id, owner, added);
    return itemsPage(added, { order: "asc" });
  });

  addRoute(app, retrieveItem, async (request) => {
    const { id, item_id: itemId } = request.params;
    const { items } = stored.conversations.find(id, request.owner);
    return items.find((item) => item.id === itemId) ?? noSuchItem(itemId);
  });

  addRoute(app, removeItem, async (request) => {
    const { id, item_id: itemId } = request.params;
    const owner = request.owner;
    const { conversation, items } = stored.conversations.find(id, owner);
    const left = items.filter((item) => item.id !== itemId);
    if (left.length === items.length) noSuchItem(itemId);
    stored.conversations.put({ conversation, items: left }, owner);
    return conversation;
  });
}

function noSuchItem(id: string): never {
  throw new WireError("not_found", `The conversation has no item with the id ${JSON.stringify(id)}.`);
}
