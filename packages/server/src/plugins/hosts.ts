// Checks host names and origins against allow-lists, so that a web page cannot reach a server on somebody's machine by a name
// that resolves to it (DNS rebinding). Also sets the CORS headers for allowed origins.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { allowedBy, HostName, isForeignPage, isOwnOrigin, mayAsk, originRefusal } from "../access/origins.ts";
import { WireError } from "../wire-error.ts";
import { ignoredHeader } from "./bodies.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Sent by a web page or an app that this server has not served. */
    readonly isForeignPage: boolean;
    /** Its Origin is this server's own. */
    readonly isFromOwnOrigin: boolean;
  }
}

const loopbackNames = ["localhost", "127.0.0.1", "::1"];
/** Seconds for which a browser may cache a preflight; browsers themselves cap it at two hours. */
const preflightSeconds = 7200;
/** Those of `Route` in http/add-route.ts. */
const allowedMethods = "GET, POST, DELETE";
const exposedHeaders = `x-request-id, retry-after, ${ignoredHeader}`;
const notForOthers =
  "No page but Ingle's own may use the app's control address. Start the server on the app's Server page, and use its address.";
/** Maximum length of the list of header names in a preflight. */
const requestedHeadersMax = 2048;

export interface HostOptions {
  allowHosts: readonly string[];
  allowOrigins: readonly string[];
  /** Browsers may only call it from this server's own pages. Programs may always call it. */
  isForOwnPages: boolean;
}

export const hosts = fp(
  async (app: FastifyInstance, options: HostOptions) => {
    const isAllowed = allowedBy([...loopbackNames, ...options.allowHosts]);
    const origins = new Set(options.allowOrigins);

    app.decorateRequest("isForeignPage", false);
    app.decorateRequest("isFromOwnOrigin", false);
    app.addHook("onRequest", async (request, reply) => {
      refuseAmbiguousHost(request);
      for (const host of hostNames(request)) {
        if (host === undefined || !(isAllowed(host) || host === localAddress(request)))
          throw refusedHost(host);
      }
      const { origin, "sec-fetch-site": site, "sec-fetch-mode": mode } = request.headers;
      const isOwn = origin !== undefined && isOwnOrigin(origin, request);
      request.setDecorator("isForeignPage", isForeignPage({ isOwn, origin, site, mode }));
      request.setDecorator("isFromOwnOrigin", isOwn);
      if (origin === undefined) return;
      if (options.isForOwnPages && !isOwn) throw new WireError("forbidden", notForOthers);
      if (!mayAsk(origin, request, origins)) throw new WireError("forbidden", originRefusal(origin));
      reply.header("access-control-allow-origin", origin);
      reply.header("access-control-expose-headers", exposedHeaders);
      reply.header("vary", "Origin");
      if (isPreflight(request)) return sendPreflight(request, reply);
    });
  },
  { name: "hosts" },
);

/**
 * Node reports the first of two Host headers, and the router drops the host of a target such as `http://a/v1`; a proxy may have
 * used the other one. No honest client sends either.
 */
function refuseAmbiguousHost({ raw }: FastifyRequest): void {
  const hostHeaders = raw.rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name));
  if (hostHeaders.length > 1)
    throw new WireError("invalid_request", "The request has more than one Host header.");
  if (raw.url?.startsWith("/") !== true && raw.url !== "*")
    throw new WireError("invalid_request", "The request's target must be a path, such as /v1/models.");
}

/** The host names of the request, in lower case and without ports: its own, and that of a trusted proxy. */
export function hostNames(request: FastifyRequest): (string | undefined)[] {
  return [...new Set([request.headers.host ?? "", request.host])].map(hostName);
}

/** The name in a Host header without its port, in lower case; undefined if it is malformed. */
function hostName(header: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]/@\s]+))(?::\d{1,5})?$/i.exec(header);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

/** Names the flag that would allow it. */
function refusedHost(host: string | undefined): WireError {
  const isNameable = HostName.safeParse(host).success;
  const message = isNameable
    ? `The host name "${host}" is not allowed. Start the server with --allow-host ${host} to add it.`
    : "The Host header is missing or malformed: send a host name, with or without a port.";
  return new WireError("forbidden", message);
}

/** The address that the connection came to. It is not a name, so nobody can point it elsewhere. */
function localAddress(request: FastifyRequest): string | undefined {
  return request.socket.localAddress?.replace(/^::ffff:/, "");
}

function isPreflight(request: FastifyRequest): boolean {
  return request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined;
}

function sendPreflight(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const names = request.headers["access-control-request-headers"] ?? "";
  // Client libraries send their own headers; none of them changes what is allowed here.
  if (names.length <= requestedHeadersMax && /^[\w, -]+$/.test(names))
    reply.header("access-control-allow-headers", names);
  return reply
    .header("access-control-allow-methods", allowedMethods)
    .header("access-control-max-age", preflightSeconds)
    .code(204)
    .send();
}
