// GET and DELETE /v1/responses/{id}, GET its input items, and POST its cancellation.
import {
  DeletedResponse,
  ItemList,
  ItemsQuery,
  ResponseObject,
  ResponseQuery,
  ResponsesEvent,
} from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import { sendEvents } from "../http/event-stream.ts";
import { addRoute, type Route } from "./add-route.ts";
import { WireError } from "../wire-error.ts";
import type { InferenceOptions } from "../protocols/inference.ts";
import { pageOf } from "../protocols/responses/stored-items.ts";
import { ownerOf, type StoredResponses } from "../protocols/responses/stored-responses.ts";

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

export interface ResponseRoutesOptions extends Pick<InferenceOptions, "keepAliveMs"> {
  stored: StoredResponses;
}

export async function responseRoutes(
  app: FastifyInstance,
  { stored, keepAliveMs }: ResponseRoutesOptions,
): Promise<void> {
  addRoute(app, retrieve, async (request, reply) => {
    const { id } = request.params;
    const { stream = false, starting_after: after = -1 } = request.query;
    const { response, events } = stored.find(id, ownerOf(request));
    if (!stream) return response;
    if (events === undefined) throw notInBackground("streamed");
    const running = stored.running(id, ownerOf(request));
    return sendEvents(request, reply, running?.from(after + 1) ?? each(events.slice(after + 1)), {
      keepAliveMs,
    });
  });

  addRoute(app, remove, async (request): Promise<DeletedResponse> => {
    const { id } = request.params;
    const owner = ownerOf(request);
    const running = stored.running(id, owner);
    running?.cancel(cancelled());
    await running?.ended;
    stored.delete(id, owner);
    return { id, object: "response", deleted: true };
  });

  addRoute(app, inputItems, async (request) => {
    const { input } = stored.find(request.params.id, ownerOf(request));
    return pageOf(input, request.query);
  });

  addRoute(app, cancel, async (request) => {
    const { id } = request.params;
    const owner = ownerOf(request);
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
