// Who may be asked, and by whom: exact allow-lists of Host names and Origins, so that a web page cannot reach a server
// on a desk by a name that resolves to it. Also the CORS answers for the origins that are allowed.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { WireError } from "../wire-error.ts";

const loopbackNames = ["localhost", "127.0.0.1", "::1"];
/** Seconds a browser may remember a preflight: browsers cap it at two hours themselves. */
const preflightSeconds = 7200;
const allowedMethods = "GET, POST, DELETE";
const exposedHeaders = "x-request-id, retry-after";
/** Longest list of header names that a preflight may ask for. */
const requestedHeadersMax = 2048;

export interface HostOptions {
  allowHosts: readonly string[];
  allowOrigins: readonly string[];
}

export const hosts = fp(
  async (app: FastifyInstance, options: HostOptions) => {
    const names = new Set([...loopbackNames, ...options.allowHosts]);
    const origins = new Set(options.allowOrigins);

    app.addHook("onRequest", async (request, reply) => {
      refuseAmbiguousHost(request);
      const host = hostName(request.headers.host ?? "");
      if (host === undefined || !(names.has(host) || host === localAddress(request))) {
        throw new WireError(
          "forbidden",
          "This host name is not allowed; start the server with --allow-host to add it.",
        );
      }
      const { origin } = request.headers;
      if (origin === undefined) return;
      if (!origins.has(origin) && !isOwnOrigin(origin, request) && !isLoopbackOrigin(origin)) {
        throw new WireError(
          "forbidden",
          "This origin is not allowed; start the server with --allow-origin to add it.",
        );
      }
      reply.header("access-control-allow-origin", origin);
      reply.header("access-control-expose-headers", exposedHeaders);
      reply.header("vary", "Origin");
      if (isPreflight(request)) return answerPreflight(request, reply);
    });
  },
  { name: "hosts" },
);

/**
 * Node gives the first of two Host headers, and the router drops the host of a target such as `http://a/v1`; a proxy in
 * front may have gone by the other one. Neither is sent by any client that means well.
 */
function refuseAmbiguousHost({ raw }: FastifyRequest): void {
  const hostHeaders = raw.rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name));
  if (hostHeaders.length > 1)
    throw new WireError("invalid_request", "The request has more than one Host header.");
  if (raw.url?.startsWith("/") !== true && raw.url !== "*")
    throw new WireError("invalid_request", "The request's target must be a path, such as /v1/models.");
}

/** The name in a Host header without its port, in lower case; undefined when it is no such header. */
function hostName(header: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]/@\s]+))(?::\d{1,5})?$/i.exec(header);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

/** The address that the connection came to: it is no name, so nobody can point it elsewhere. */
function localAddress(request: FastifyRequest): string | undefined {
  return request.socket.localAddress?.replace(/^::ffff:/, "");
}

/** A page that this server itself has served, under whatever name it was allowed to be asked by. */
function isOwnOrigin(origin: string, request: FastifyRequest): boolean {
  return (
    URL.canParse(origin) && new URL(origin).origin === origin && new URL(origin).host === request.headers.host
  );
}

/** Pages that this machine serves to itself, on any port. */
function isLoopbackOrigin(origin: string): boolean {
  return /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/.test(origin);
}

function isPreflight(request: FastifyRequest): boolean {
  return request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined;
}

function answerPreflight(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const asked = request.headers["access-control-request-headers"] ?? "";
  // Client libraries send headers of their own; none of them changes what is allowed here.
  if (asked.length <= requestedHeadersMax && /^[\w, -]+$/.test(asked))
    reply.header("access-control-allow-headers", asked);
  return reply
    .header("access-control-allow-methods", allowedMethods)
    .header("access-control-max-age", preflightSeconds)
    .code(204)
    .send();
}
