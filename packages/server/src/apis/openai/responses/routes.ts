// /v1/responses and /v1/conversations with their store, which lives as long as the server: POST creates a response; GET and DELETE
// /v1/responses/{id}, GET its input items and POST its cancellation use a stored one.
import {
  DeletedResponse,
  ItemList,
  ItemsQuery,
  ResponseObject,
  ResponseQuery,
  ResponsesEvent,
} from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import { addGenerationRoute } from "../../../generation/add-generation-route.ts";
import type { InferenceOptions } from "../../../generation/inference.ts";
import { addRoute, type Route } from "../../../http/add-route.ts";
import { sendEvents } from "../../../http/event-stream.ts";
import type { ServerConfig } from "../../../config.ts";
import { MemoryStore, type RecordStore, type StoreLimits } from "../../../stored/record-store.ts";
import { SqliteStore } from "../../../stored/sqlite-store.ts";
import { WireError } from "../../../wire-error.ts";
import { addInputTokens } from "../prompt-tokens.ts";
import { addConversations } from "./conversation-routes.ts";
import { responsesRoute } from "./create-response.ts";
import { itemsPage } from "./stored-items.ts";
import { StoredResponses } from "./stored-responses.ts";

/** How often expired records are deleted, if no request does it earlier. */
const expireEveryMs = 60_000;

const ofResponse = {
  right: "inference",
  errors: ["not_found", "disk_full"],
  namesNoModel: true,
  id: "The id of a stored response.",
} as const satisfies Partial<Route>;

const retrieve = {
  path: "GET /v1/responses/:id",
  ...ofResponse,
  query: ResponseQuery,
  summary: "A stored response, or the events of one that is generated in the background",
  responses: { 200: ResponseObject },
  event: ResponsesEvent,
} satisfies Route;
const remove = {
  path: "DELETE /v1/responses/:id",
  ...ofResponse,
  summary: "Delete a stored response; one that is being generated is cancelled",
  responses: { 200: DeletedResponse },
} satisfies Route;
const inputItems = {
  path: "GET /v1/responses/:id/input_items",
  ...ofResponse,
  query: ItemsQuery,
  summary: "The items that a stored response was generated from",
  responses: { 200: ItemList },
} satisfies Route;
const cancel = {
  path: "POST /v1/responses/:id/cancel",
  ...ofResponse,
  summary: "Cancel a response that is generated in the background",
  description: "One that has ended is returned as it is.",
  responses: { 200: ResponseObject },
} satisfies Route;

export interface ResponsesOptions extends InferenceOptions {
  /** Where responses are stored. */
  responses: ServerConfig["responses"];
}

export async function responsesRoutes(
  app: FastifyInstance,
  { responses: settings, ...options }: ResponsesOptions,
): Promise<void> {
  const store = await openStore(settings);
  const stored = new StoredResponses(store);
  const expiry = setInterval(() => store?.expire(), expireEveryMs).unref();
  app.addHook("onClose", async () => {
    clearInterval(expiry);
    await stored.settled(); // responses in the background were cancelled when closing began
    store?.[Symbol.dispose]();
  });
  const responses = responsesRoute(stored);
  addGenerationRoute(app, responses, options);
  addInputTokens(app, { ...options, stored, responses });
  addStoredResponses(app, { ...options, stored });
  addConversations(app, { ...options, stored });
}

/** Undefined if nothing should be stored. Throws ConfigError for a file that cannot be used. */
async function openStore({
  store,
  countMax,
  sizeMaxMiB,
  ageMaxMs,
}: ServerConfig["responses"]): Promise<RecordStore | undefined> {
  const limits: StoreLimits = { countMax, bytesMax: sizeMaxMiB * 1024 * 1024, ageMaxMs };
  if (store === "none") return undefined;
  return store === "memory" ? new MemoryStore(limits) : SqliteStore.open(store, limits);
}

function addStoredResponses(
  app: FastifyInstance,
  { stored, keepAliveMs }: Pick<InferenceOptions, "keepAliveMs"> & { stored: StoredResponses },
): void {
  addRoute(app, retrieve, async (request, reply) => {
    const { id } = request.params;
    const { stream = false, starting_after: after = -1 } = request.query;
    const { response, events } = stored.find(id, request.owner);
    if (!stream) return response;
    if (events === undefined) throw notInBackground("streamed");
    const running = stored.running(id, request.owner);
    return sendEvents(request, reply, running?.from(after + 1) ?? each(events.slice(after + 1)), {
      keepAliveMs,
    });
  });

  addRoute(app, remove, async (request): Promise<DeletedResponse> => {
    const { id } = request.params;
    const owner = request.owner;
    const running = stored.running(id, owner);
    running?.cancel(cancelled());
    await running?.ended;
    stored.delete(id, owner);
    return { id, object: "response", deleted: true };
  });

  addRoute(app, inputItems, async (request) => {
    const { input } = stored.find(request.params.id, request.owner);
    return itemsPage(input, request.query);
  });

  addRoute(app, cancel, async (request) => {
    const { id } = request.params;
    const owner = request.owner;
    const running = stored.running(id, owner);
    running?.cancel(cancelled());
    await running?.ended;
    const { response } = stored.find(id, owner);
    if (!response.background) throw notInBackground("cancelled");
    return response;
  });
}

async function* each(events: readonly string[]): AsyncGenerator<string, void, undefined> {
  yield* events;
}

function cancelled(): WireError {
  return new WireError("cancelled", "The response was cancelled.");
}

function notInBackground(what: string): WireError {
  const message = `Only a response that was created with background: true can be ${what}.`;
  return new WireError("invalid_request", message);
}
