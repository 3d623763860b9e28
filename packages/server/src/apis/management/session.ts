// GET and POST /api/v1/session: what a page may do, and exchanging a key for a session cookie.
import { Session, SessionRequest } from "@ingle/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { clientNetwork } from "../../access/ip-address.ts";
import { keyRefused, type KeyCheck } from "../../access/keys.ts";
import { beginSession, type Sessions } from "../../access/sessions.ts";
import { WireError } from "../../wire-error.ts";
import { addRoute, type Route } from "../../http/add-route.ts";

const show = {
  path: "GET /api/v1/session",
  right: "none",
  summary: "Get the rights of this request, and so of the page that sends it",
  responses: { 200: Session },
} satisfies Route;
const begin = {
  path: "POST /api/v1/session",
  right: "none",
  body: SessionRequest,
  summary: "Exchange a key for a session cookie",
  description: "For the server's own page. Programs send their key with each request.",
  responses: { 200: Session },
  errors: ["unauthorized", "rate_limited"],
  example: { key: "a key of the server" },
  namesNoModel: true,
} satisfies Route;

interface SessionRouteOptions {
  keyCheck: KeyCheck;
  sessions: Sessions;
  isAppListener: boolean;
  /** Whether the page's chats are kept here. A page that comes through a proxy keeps its own. */
  keepsChats: boolean;
}

export function addSession(
  app: FastifyInstance,
  { keyCheck, sessions, isAppListener, keepsChats }: SessionRouteOptions,
): void {
  const toSession = (right: Session["right"], { isOfThisMachine }: FastifyRequest): Session => ({
    right,
    is_app: isAppListener,
    keeps_chats: keepsChats && isOfThisMachine,
  });
  addRoute(app, show, async (request, reply): Promise<Session> => {
    reply.header("cache-control", "no-store");
    return toSession(request.right, request);
  });
  addRoute(app, begin, async (request, reply): Promise<Session> => {
    if (request.isForeignPage)
      throw new WireError(
        "forbidden",
        "Only the server's own page can start a session. Send a key with each request instead.",
      );
    const found = await keyCheck.find([request.body.key], clientNetwork(request.ip));
    if (found === undefined) throw new WireError("unauthorized", "Unknown API key.", { param: "key" });
    if (!("digest" in found)) throw keyRefused(found);
    beginSession(request, reply, { sessions, key: found });
    return toSession(found.scope, request);
  });
}
