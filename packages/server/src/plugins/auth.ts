// Checks whether a request has the right that its route needs (`config.right`). This plugin collects the facts; access/rights.ts
// decides.
import type { FastifyInstance, FastifyRequest, RouteOptions } from "fastify";
import fp from "fastify-plugin";
import { isLoopback, networkOf } from "../access/ip-address.ts";
import type { HeldBack, KeyCheck } from "../access/key-check.ts";
import type { KeyRing } from "../access/key-ring.ts";
import {
  cookieCounts,
  includes,
  isLocalClient,
  rightOf,
  type CookieSender,
  type Right,
} from "../access/rights.ts";
import type { CookiePlace, Sessions } from "../access/sessions.ts";
import { WireError } from "../wire-error.ts";
import { hostNames } from "./hosts.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The right that a request needs. Every route sets it; `none` is for probes and pages without secrets. */
    right?: Right;
  }
  interface FastifyRequest {
    /**
     * Digest, in hexadecimal, of the valid key that came with this request or that its cookie stands for; null without one.
     */
    readonly keyDigest: string | null;
    /** What this request may do. */
    readonly right: Right;
    /** Sent by a program on this machine, or by a page of this server opened here. With or without a key. */
    readonly isOfThisMachine: boolean;
    /** Why its key was not checked; null if it was. */
    readonly keyRefusal: WireError | null;
  }
}

export interface AuthOptions {
  keys: KeyRing;
  keyCheck: KeyCheck;
  sessions: Sessions;
  /** Whether the server listens only on loopback. */
  isLoopbackServer: boolean;
  /** Whether cookies are only valid under loopback host names. */
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
        // Browsers that do not tell are older than this server supports; programs that collect cookies do not tell either.
        isOwnReading:
          (request.method === "GET" || request.method === "HEAD") &&
          request.headers["sec-fetch-site"] !== undefined,
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

    // After rate limiting: refused requests count as well.
    app.addHook("preParsing", async (request) => {
      const needed = request.routeOptions.config.right ?? "inference"; // an unknown path
      if (includes(request.right, needed)) return;
      throw request.keyRefusal ?? (isAppListener ? appRefusal() : refusal(request));
    });
  },
  { name: "auth", dependencies: ["hosts"] },
);

/** A route without a right is a bug: the server does not start. */
function requireRight({ url, method, config }: RouteOptions): void {
  if (config?.right === undefined)
    throw new Error(`The route ${[method].flat().join()} ${url} has no config.right.`);
}

/** The bearer token, and the header that Anthropic's clients send instead. One valid key is enough. */
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

/** The address that the browser sent the request to. */
export function cookiePlaceOf({ protocol, port }: FastifyRequest): CookiePlace {
  return { protocol, port };
}

/** The error for a client that must wait before its keys are checked again. */
export function tooManyWrongKeys({ waitSeconds: retryAfterSeconds }: HeldBack): WireError {
  return new WireError(
    "rate_limited",
    `Too many wrong API keys came from this address. Try the right one again in ${retryAfterSeconds} seconds.`,
    { retryAfterSeconds },
  );
}

/** For the app's control address. */
function appRefusal(): WireError {
  return new WireError(
    "unauthorized",
    "This is the control address of Ingle's app. Open the address that `ingle app` has printed: it holds the token.",
  );
}

const howToSend = 'Send it as "Authorization: Bearer <key>" or "x-api-key: <key>".';

function refusal(request: FastifyRequest): WireError {
  if (request.right !== "none") {
    const why = request.keyDigest === null ? "" : "This API key may use models but not manage them. ";
    return new WireError(
      "forbidden",
      `${why}Model management requires a management key: start the server with --admin-key. ${howToSend}`,
    );
  }
  const isMissing = keysOf(request).length === 0;
  const what = isMissing ? "This server requires an API key." : "This API key is not valid.";
  return new WireError("unauthorized", `${what} ${howToSend}`);
}
