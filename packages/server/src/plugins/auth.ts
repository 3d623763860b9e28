// What a request may do, and whether that is enough for its route: each route says in its config which right it needs.
// Everything that decides it is gathered here and handed to access/rights.ts.
import type { FastifyInstance, FastifyRequest, RouteOptions } from "fastify";
import fp from "fastify-plugin";
import { isLocalClient } from "../access/client-address.ts";
import { isLoopback, networkOf } from "../access/ip-address.ts";
import type { HeldBack, KeyCheck } from "../access/key-check.ts";
import type { KeyRing } from "../access/key-ring.ts";
import { cookieCounts, includes, rightOf, type CookieSender, type Right } from "../access/rights.ts";
import type { CookiePlace, Sessions } from "../access/sessions.ts";
import { WireError } from "../wire-error.ts";
import { hostNames } from "./hosts.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** What a request needs to be answered. Every route says it; `none` is for probes and pages without secrets. */
    right?: Right;
  }
  interface FastifyRequest {
    /**
     * The known key that came with this request, or that its cookie stands for, as a digest in hexadecimal; null where there is
     * none.
     */
    readonly keyDigest: string | null;
    /** What this request may do. */
    readonly right: Right;
    /** A program of this machine has sent it, or a page that this server has served here; keys do not matter. */
    readonly isOfThisMachine: boolean;
    /** Why its key was not looked at. */
    readonly keyRefusal: WireError | null;
  }
}

export interface AuthOptions {
  keys: KeyRing;
  keyCheck: KeyCheck;
  sessions: Sessions;
  /** The server listens on loopback alone. */
  isLoopbackServer: boolean;
  /** Cookies count by names of loopback alone. */
  isAppListener: boolean;
  trustsProxy: (address: string | undefined) => boolean;
}

export const auth = fp(
  async (app: FastifyInstance, options: AuthOptions) => {
    const { keys, keyCheck, sessions, isLoopbackServer, isAppListener, trustsProxy } = options;
    app.decorateRequest("keyDigest", null);
    app.decorateRequest("right", "none");
    app.decorateRequest("isOfThisMachine", false);
    app.decorateRequest("keyRefusal", null);

    app.addHook("onRoute", requireRight);

    app.addHook("onRequest", async (request) => {
      const found = keyCheck.find(keysOf(request), networkOf(request.ip));
      if (found !== undefined && "waitSeconds" in found)
        request.setDecorator<WireError | null>("keyRefusal", tooManyWrongKeys(found));
      const key = found === undefined || "waitSeconds" in found ? undefined : found;
      const cookie = keyCheck.known(sessions.keyDigests(request.headers.cookie, cookiePlaceOf(request)));
      const sender: CookieSender = {
        isForeignPage: request.isForeignPage,
        isFromOwnOrigin: request.isFromOwnOrigin,
        isReading: request.method === "GET" || request.method === "HEAD",
        isCookieHost:
          !isAppListener || hostNames(request).every((name) => name !== undefined && isLoopback(name)),
      };
      const isLocal = isLoopbackServer && isLocalClient(arrivalOf(request, trustsProxy));
      request.setDecorator("isOfThisMachine", isLocal && !request.isForeignPage);
      const scopes = { key: key?.scope ?? "none", cookie: cookie?.scope ?? "none" } as const;
      request.setDecorator<Right>(
        "right",
        rightOf({ ...sender, ...scopes, isLocal, needsKey: keys.isNeeded }),
      );
      const counted = key ?? (cookieCounts(sender) ? cookie : undefined);
      request.setDecorator<string | null>("keyDigest", counted?.digest ?? null);
    });

    // After the limit of requests has counted it: who is refused counts as well.
    app.addHook("preParsing", async (request) => {
      const needed = request.routeOptions.config.right ?? "inference"; // a path that does not exist
      if (includes(request.right, needed)) return;
      throw request.keyRefusal ?? (isAppListener ? appRefusal() : refusal(request));
    });
  },
  { name: "auth", dependencies: ["hosts"] },
);

/** A route that somebody forgets to protect is a mistake of ours, and ends the start. */
function requireRight({ url, method, config }: RouteOptions): void {
  if (config?.right === undefined)
    throw new Error(`The route ${[method].flat().join()} ${url} does not say which right it needs.`);
}

/** The bearer token, and the header that Anthropic's clients send in its place. One that is known is enough. */
function keysOf({ headers }: FastifyRequest): string[] {
  const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
  return [bearer, headers["x-api-key"]]
    .flat()
    .flatMap((key) => (key === undefined || key === "" ? [] : [key]));
}

function arrivalOf(request: FastifyRequest, trustsProxy: AuthOptions["trustsProxy"]) {
  const { headers, ip: clientAddress } = request;
  const peer = request.socket.remoteAddress;
  return { peer, headers, isTrustedProxy: trustsProxy(peer), clientAddress, hostNames: hostNames(request) };
}

/** By what address the browser of a request has asked. */
export function cookiePlaceOf({ protocol, port }: FastifyRequest): CookiePlace {
  return { protocol, port };
}

/** For a client whose keys are not looked at now. */
export function tooManyWrongKeys({ waitSeconds: retryAfterSeconds }: HeldBack): WireError {
  return new WireError(
    "rate_limited",
    `Too many wrong API keys came from this address. Try the right one again in ${retryAfterSeconds} seconds.`,
    { retryAfterSeconds },
  );
}

/** Of the app's control address: its page says the same to a person. */
function appRefusal(): WireError {
  return new WireError(
    "unauthorized",
    "This is the control address of Ingle's app. Open it by the address that `ingle app` has printed, which holds its token.",
  );
}

const howToSend = 'Send it as "Authorization: Bearer <key>" or "x-api-key: <key>".';

function refusal(request: FastifyRequest): WireError {
  if (request.right !== "none") {
    const why = request.keyDigest === null ? "" : "This API key uses models and manages none. ";
    return new WireError(
      "forbidden",
      `${why}Managing models needs a management key here: start the server with --admin-key. ${howToSend}`,
    );
  }
  const isMissing = keysOf(request).length === 0;
  const what = isMissing ? "This server needs an API key." : "This API key is not known here.";
  return new WireError("unauthorized", `${what} ${howToSend}`);
}
