// Manages single requests: POST /api/v1/requests/cancel and …/bodies. GET /api/v1/events lists the requests.
import { KeepBodiesRequest, KeptBodies, LiveRequest, CancelRequest } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { RequestBoard } from "../../live/request-board.ts";
import { addRoute, type Route } from "../../http/add-route.ts";

const cancel = {
  path: "POST /api/v1/requests/cancel",
  right: "management",
  body: CancelRequest,
  summary: "Cancel a running or waiting request",
  description: "Its client gets the error `cancelled`. The response is the request's final state.",
  responses: { 200: LiveRequest },
  errors: ["not_found"],
  example: { id: "0b0e7b2e-5c1d-4c1b-9d5a-3f0c1f0d2a11" },
  namesNoModel: true,
} satisfies Route;
const bodies = {
  path: "POST /api/v1/requests/bodies",
  right: "management",
  body: KeepBodiesRequest,
  summary: "Keep the bodies of requests and responses in memory, or delete them",
  description:
    "The events show them to every client that may manage the server. Switching this off deletes them at once.",
  responses: { 200: KeptBodies },
  example: { keep: false },
  namesNoModel: true,
} satisfies Route;

export function addRequests(app: FastifyInstance, { board }: { board: RequestBoard }): void {
  addRoute(app, cancel, async ({ body }) => await board.cancel(body.id));
  addRoute(app, bodies, async ({ body }): Promise<KeptBodies> => {
    board.bodies.switch(body.keep);
    return { keeps_bodies: board.bodies.isOn };
  });
}
