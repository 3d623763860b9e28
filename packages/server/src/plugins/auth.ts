// Who sends a request, and whether it has the right that its route needs (`config.right`). This plugin collects the facts;
// access/rights.ts decides. `request.clientKey()` names the client that a request counts for, and
// `request.cacheSalt()` what separates its computed state from that of others.
import type { FastifyInstance, FastifyRequest, RouteOptions } from "fastify";
import fp from "fastify-plugin";
import { isLoopback, clientNetwork } from "../access/ip-address.ts";
import {
  KeyCheck,
  keyRefused,
  wrongKeysPerMinute,
  WrongKeys,
  type KeyRing,
  type KnownKey,
} from "../access/keys.ts";
import type { ServerConfig } from "../config.ts";
import {
  cookieCounts,
  includes,
  isLocalClient,
  decideRight,
  mayUseAll,
  onlyModels,
  type CookieSender,
  type MayUse,
  type Right,
} from "../access/rights.ts";
import { cookiePlace, Sessions } from "../access/sessions.ts";
import { WireError } from "../wire-error.ts";
import { hostNames } from "./hosts.ts";
import { createHash } from "node:crypto";
import type { Socket } from "node:net";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The right that a request needs. Every route sets it; `none` is for probes and pages without secrets. */
    right?: Right;
  }
  interface FastifyRequest {
    /** The valid key that came with this request or that its cookie stands for; null without one. */
    readonly key: KnownKey | null;
    /** Whether the terms of its key allow a model. */
    readonly mayUse: MayUse;
    /** What this request may do. */
    readonly right: Right;
    /** Sent by a program on this machine, or by a page of this server opened here. With or without a key. */
    readonly isOfThisMachine: boolean;
    /** Why its key was not checked; null if it was. */
    readonly keyRefusal: WireError | null;
    /**
     * The client that this request counts for: the `x-llm-d-inference-fairness-id` of a trusted gateway, else the API key,
     * else the body's `user`, else that header or `x-session-id` from anyone, else the connection. Each kind has a prefix, so
     * that no `user` can pose as a key. The length is bounded, and keys are only included as digests.
     */
    clientKey(user: string | undefined): string;
    /**
     * What separates the computed state of this request from that of other keys, and of other salts: the body's `cache_salt`, together
     * with the API key where keys are required, and with the client that a trusted gateway names behind it. Undefined: shared by all.
     */
    cacheSalt(salt: string | undefined): string | undefined;
    /** Who may read what this request stores: whoever has its key; without keys, everyone who may use the server. */
    readonly owner: string;
    /** Whether it may learn how much others use: with a management key, or where all share everything anyway. */
    readonly seesAll: boolean;
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
  /** Whether all keys share what is computed. */
  sharesPrefixes: boolean;
}

/** The options of a server whose keys are these. */
export function authOptions(
  config: ServerConfig,
  { keys, ...options }: Pick<AuthOptions, "keys" | "trustsProxy" | "isAppListener">,
): AuthOptions {
  const { rateLimit: most, sharePrefixes: sharesPrefixes } = config;
  const wrongKeys = new WrongKeys(most === 0 ? wrongKeysPerMinute : Math.min(most, wrongKeysPerMinute));
  const keyCheck = new KeyCheck(keys, wrongKeys);
  const isLoopbackServer = isLoopback(config.host);
  return { ...options, keys, keyCheck, sessions: new Sessions(), isLoopbackServer, sharesPrefixes };
}

export const auth = fp(
  async (app: FastifyInstance, options: AuthOptions) => {
    const { keys, keyCheck, sessions, isLoopbackServer, isAppListener, trustsProxy } = options;
    app.decorateRequest("key", null);
    app.decorateRequest("mayUse", mayUseAll);
    app.decorateRequest("right", "none");
    app.decorateRequest("isOfThisMachine", false);
    app.decorateRequest("keyRefusal", null);

    app.addHook("onRoute", requireRight);

    app.addHook("onRequest", async (request) => {
      const found = await keyCheck.find(requestKeys(request), clientNetwork(request.ip));
      const key = found !== undefined && "digest" in found ? found : undefined;
      if (found !== undefined && !("digest" in found))
        request.setDecorator<WireError | null>("keyRefusal", keyRefused(found));
      const cookie = keyCheck.known(sessions.keyDigests(request.headers.cookie, cookiePlace(request)));
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
      const isLocal = isLoopbackServer && isLocalClient(toArrival(request, trustsProxy));
      request.setDecorator("isOfThisMachine", isLocal && !request.isForeignPage);
      const scopes = { key: key?.scope ?? "none", cookie: cookie?.scope ?? "none" } as const;
      request.setDecorator<Right>(
        "right",
        decideRight({ ...sender, ...scopes, isLocal, needsKey: keys.isNeeded }),
      );
      const counted = key ?? (cookieCounts(sender) ? cookie : undefined);
      if (counted === undefined) return;
      request.setDecorator<KnownKey | null>("key", counted);
      const { models } = counted.terms;
      if (models !== undefined) request.setDecorator<MayUse>("mayUse", onlyModels(models));
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
function requestKeys({ headers }: FastifyRequest): string[] {
  const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
  return [bearer, headers["x-api-key"]]
    .flat()
    .flatMap((key) => (key === undefined || key === "" ? [] : [key]));
}

function toArrival(request: FastifyRequest, trustsProxy: AuthOptions["trustsProxy"]) {
  const { headers, ip: clientAddress } = request;
  const peer = request.socket.remoteAddress;
  return { peer, headers, isTrustedProxy: trustsProxy(peer), clientAddress, hostNames: hostNames(request) };
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
    const why = request.key === null ? "" : "This API key may use models but not manage them. ";
    return new WireError(
      "forbidden",
      `${why}Model management requires a management key: start the server with --admin-key. ${howToSend}`,
    );
  }
  const isMissing = requestKeys(request).length === 0;
  const what = isMissing ? "This server requires an API key." : "This API key is not valid.";
  return new WireError("unauthorized", `${what} ${howToSend}`);
}

/** Set by llm-d's gateway: the share that a request counts against. */
const fairnessHeader = "x-llm-d-inference-fairness-id";
/** Set by routers that send many clients' requests over one connection. */
const sessionHeader = "x-session-id";

/** A trusted gateway may name many clients behind one key. A client itself may not: it would get many shares. */
type TenantOptions = Pick<AuthOptions, "keys" | "trustsProxy" | "sharesPrefixes">;

/**
 * Whose a request is. The engine serves each client's requests in order of arrival, and shares its work evenly among clients; where keys
 * are required, each has a prefix cache of its own.
 */
export const tenants = fp(
  async (app: FastifyInstance, { keys, trustsProxy, sharesPrefixes }: TenantOptions) => {
    const areApart = (): boolean => keys.isNeeded && !sharesPrefixes;

    const namedByGateway = (request: FastifyRequest): string | undefined =>
      trustsProxy(request.socket.remoteAddress) ? headerText(request, fairnessHeader) : undefined;

    const numbers = new WeakMap<Socket, number>();
    let connections = 0;

    const connectionNumber = (socket: Socket): number => {
      const number = numbers.get(socket) ?? (connections += 1);
      numbers.set(socket, number);
      return number;
    };

    app.decorateRequest("clientKey", function (this: FastifyRequest, user: string | undefined): string {
      const named = namedByGateway(this);
      if (named !== undefined) return `fairness:${digest(`${this.key?.digest ?? ""} ${named}`)}`;
      if (this.key !== null) return `key:${this.key.digest}`;
      if (user !== undefined && user !== "") return `user:${digest(user)}`;
      const session = headerText(this, sessionHeader);
      const fairnessId = headerText(this, fairnessHeader);
      if (fairnessId !== undefined) return `fairness:${digest(fairnessId)}`;
      if (session !== undefined) return `session:${digest(session)}`;
      return `connection:${connectionNumber(this.socket)}`;
    });

    app.decorateRequest("cacheSalt", function (this: FastifyRequest, salt: string | undefined) {
      if (!areApart()) return salt;
      const owner = digest(JSON.stringify([this.key?.digest ?? null, namedByGateway(this) ?? null]));
      return `${owner}/${digest(salt ?? "")}`;
    });

    app.decorateRequest("owner", {
      getter(this: FastifyRequest) {
        return this.key?.digest ?? "";
      },
    });

    app.decorateRequest("seesAll", {
      getter(this: FastifyRequest) {
        return !areApart() || this.right === "management";
      },
    });
  },
  { name: "tenants", dependencies: ["auth"] },
);

function headerText({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The engine truncates long names: users with the same prefix would become one. */
function digest(user: string): string {
  return createHash("sha256").update(user).digest("hex");
}
