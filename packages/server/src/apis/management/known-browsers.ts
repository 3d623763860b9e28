// /api/v1/session/…: how a browser that has been let in once comes back after a restart of the app. Only the app's control address has
// these routes, and only its own page on this machine may use them.
import {
  BrowserChallenge,
  BrowserKey,
  ForgetBrowserRequest,
  KnownBrowser,
  ReturnRequest,
  Session,
} from "@ingle/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { KnownBrowsers } from "../../access/known-browsers.ts";
import { beginSession, type Sessions } from "../../access/sessions.ts";
import { hashKey } from "../../api-key.ts";
import { WireError } from "../../wire-error.ts";
import { addRoute, type Route } from "../../http/add-route.ts";

const remember = {
  path: "POST /api/v1/session/browser",
  right: "management",
  body: BrowserKey,
  summary: "Let the app's page in this browser come back after a restart",
  responses: { 200: KnownBrowser },
  example: { x: "A".repeat(43), y: "A".repeat(43) },
  namesNoModel: true,
} satisfies Route;
const forget = {
  path: "POST /api/v1/session/forget",
  right: "management",
  body: ForgetBrowserRequest,
  summary: "Let a browser no longer come back",
  responses: { 200: KnownBrowser },
  example: { browser: "A".repeat(22) },
  namesNoModel: true,
} satisfies Route;
const challenge = {
  path: "POST /api/v1/session/challenge",
  right: "none",
  summary: "Get a text that a known browser signs to come back",
  responses: { 200: BrowserChallenge },
  namesNoModel: true,
} satisfies Route;
const comeBack = {
  path: "POST /api/v1/session/return",
  right: "none",
  body: ReturnRequest,
  summary: "Exchange a signed challenge for a session cookie",
  responses: { 200: Session },
  errors: ["unauthorized"],
  example: { browser: "A".repeat(22), challenge: "a", signature: "A".repeat(86) },
  namesNoModel: true,
} satisfies Route;

interface KnownBrowserOptions {
  browsers: KnownBrowsers;
  sessions: Sessions;
  /** The app's token, which the new session stands for. */
  token: string;
  keepsChats: boolean;
}

export async function knownBrowserRoutes(
  app: FastifyInstance,
  { browsers, sessions, token, keepsChats }: KnownBrowserOptions,
): Promise<void> {
  const key = { digest: hashKey(token) };
  app.addHook("preHandler", async (request) => requireOwnPage(request));
  app.addHook("onSend", async (_request, reply) => void reply.header("cache-control", "no-store"));
  addRoute(app, remember, async (request): Promise<KnownBrowser> => ({
    browser: await browsers.remember(request.body, requestOrigin(request)),
  }));
  addRoute(app, forget, async ({ body: { browser } }): Promise<KnownBrowser> => {
    await browsers.forget(browser);
    return { browser };
  });
  addRoute(app, challenge, async (): Promise<BrowserChallenge> => ({ challenge: browsers.challenge() }));
  addRoute(app, comeBack, async (request, reply): Promise<Session> => {
    if (!(await browsers.returns(request.body, requestOrigin(request))))
      throw new WireError(
        "unauthorized",
        "This browser is not known. Open the address that `ingle app` has printed.",
      );
    beginSession(request, reply, { sessions, key });
    return { right: "management", is_app: true, keeps_chats: keepsChats };
  });
}

/** A page of another origin, a program, and a page behind a proxy may not: the key of a browser is for this page and machine. */
function requireOwnPage({ isFromOwnOrigin, isOfThisMachine }: FastifyRequest): void {
  if (!isFromOwnOrigin || !isOfThisMachine)
    throw new WireError(
      "forbidden",
      "Only the app's own page, on the app's machine, can come back this way.",
    );
}

function requestOrigin({ headers }: FastifyRequest): string {
  return headers.origin ?? "";
}
