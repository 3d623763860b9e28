// /api/v1/chats: the chats of the app's page. Only the app's control address has these routes, and only for pages and programs of its
// own machine: chats are the user's, and no key of the `/v1` server reads them.
import {
  ChatChangesRequest,
  ChatChangesResult,
  ChatNote,
  ChatNoteResult,
  ChatRecordList,
  ChatRecordQuery,
  ChatRecordsQuery,
} from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { ChatStore } from "../../chats/chat-store.ts";
import { WireError } from "../../wire-error.ts";
import { addRoute, type Route } from "../../http/add-route.ts";

const right = "management";
const read = { right, errors: ["not_enabled"] } satisfies Partial<Route>;

const list = {
  ...read,
  path: "GET /api/v1/chats",
  summary: "List the app's conversations, folders and presets",
  responses: { 200: ChatRecordList },
} satisfies Route;
const inside = {
  ...read,
  path: "GET /api/v1/chats/records",
  query: ChatRecordsQuery,
  summary: "List the messages or the files of a conversation",
  responses: { 200: ChatRecordList },
} satisfies Route;
const one = {
  ...read,
  path: "GET /api/v1/chats/record",
  query: ChatRecordQuery,
  summary: "Get one record of the app's chats: a list of one, or of none",
  responses: { 200: ChatRecordList },
} satisfies Route;
const change = {
  path: "POST /api/v1/chats/changes",
  right,
  body: ChatChangesRequest,
  summary: "Change records of the app's chats, together or not at all",
  description: "Every page hears of the changes, as an event of `GET /api/v1/events`.",
  responses: { 200: ChatChangesResult },
  errors: ["not_enabled", "payload_too_large"],
  example: { page: "a", changes: [] },
  namesNoModel: true,
} satisfies Route;
const note = {
  path: "POST /api/v1/chats/notes",
  right,
  body: ChatNote,
  summary: "Ask the other pages who is writing a reply, or answer",
  responses: { 200: ChatNoteResult },
  errors: ["not_enabled"],
  example: { page: "a", type: "who-writes", id: "b" },
  namesNoModel: true,
} satisfies Route;

/** Undefined: the browser keeps the chats. */
export async function chatRoutes(
  app: FastifyInstance,
  { chats }: { chats: ChatStore | undefined },
): Promise<void> {
  const store = (): ChatStore => {
    if (chats !== undefined) return chats;
    throw new WireError("not_enabled", "This app leaves chats to the browser (--chat-store browser).");
  };
  app.addHook("preHandler", async ({ isOfThisMachine }) => {
    if (!isOfThisMachine)
      throw new WireError("forbidden", "Only programs and pages on the app's own machine can use its chats.");
  });
  app.addHook("onSend", async (_request, reply) => void reply.header("cache-control", "no-store"));
  addRoute(app, list, async (): Promise<ChatRecordList> => ({ object: "list", data: store().list() }));
  addRoute(app, inside, async ({ query }): Promise<ChatRecordList> => ({
    object: "list",
    data: store().inside(query),
  }));
  addRoute(app, one, async ({ query }): Promise<ChatRecordList> => {
    const found = store().find(query);
    return { object: "list", data: found === undefined ? [] : [found] };
  });
  addRoute(app, change, async ({ body }): Promise<ChatChangesResult> => store().change(body));
  addRoute(app, note, async ({ body }): Promise<ChatNoteResult> => {
    store().note(body);
    return { sent: true };
  });
}
