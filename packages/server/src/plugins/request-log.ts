// Gives each request an id, and records its end: one log line, never with a prompt, an image or a reply, and the metrics.
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { wireErrors } from "@ingle/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import type { RequestOutcome } from "../http/request-outcome.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { WireError } from "../wire-error.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Header that repeats the request's id for an API's clients, beside `x-request-id`. */
    requestIdHeader?: string;
  }
  interface FastifyRequest {
    readonly outcome: RequestOutcome;
  }
  interface FastifyInstance {
    readonly metrics: Metrics;
  }
}

/** Ids that a client may choose: they are written into logs as they are. */
const acceptedId = /^[\w.:-]{1,128}$/;

/** The client's own `x-request-id` if it is valid, else a new id. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && acceptedId.test(given) ? given : randomUUID();
}

export const requestLog = fp(
  async (app: FastifyInstance) => {
    app.decorateRequest("outcome");

    app.addHook("onRequest", async (request, reply) => {
      request.setDecorator<RequestOutcome>("outcome", { startedAt: performance.now() });
      reply.header("x-request-id", request.id);
      const { requestIdHeader } = request.routeOptions.config;
      if (requestIdHeader !== undefined) reply.header(requestIdHeader, request.id);
      request.atEnd(() => writeLine(request, reply));
    });
  },
  { name: "request-log", dependencies: ["abort"] },
);

/** Counts every request at its end, and offers the metrics to other code as `app.metrics`. */
export const metrics = fp(
  async (app: FastifyInstance, options: { metrics: Metrics }) => {
    app.decorate("metrics", options.metrics);
    app.addHook("onRequest", async (request, reply) => {
      request.atEnd(() => {
        options.metrics.requests.ended({
          method: request.method,
          route: request.routeOptions.url ?? "unknown",
          status: loggedStatus(request, reply),
          seconds: (performance.now() - request.outcome.startedAt) / 1000,
        });
      });
    });
    app.addHook("onClose", async () => options.metrics[Symbol.dispose]());
  },
  { name: "metrics", dependencies: ["request-log"] },
);

function writeLine(request: FastifyRequest, reply: FastifyReply): void {
  const { error, startedAt, generation: _forTraces, ...outcome } = request.outcome;
  const line = {
    method: request.method,
    route: request.routeOptions.url ?? "unknown",
    status: loggedStatus(request, reply),
    ...outcome,
    durationMs: Math.round(performance.now() - startedAt),
    ...(error === undefined ? {} : { err: error }),
  };
  request.log[logLevel(request)](line, "request");
}

/**
 * A response that was cut short is logged with the status of the reason, which its client has not seen: 499 if the client left.
 */
export function loggedStatus({ clientSignal }: FastifyRequest, reply: FastifyReply): number {
  const reason: unknown = clientSignal.reason;
  const isCut = clientSignal.aborted && !reply.raw.writableFinished;
  return isCut && reason instanceof WireError ? wireErrors[reason.code].status : reply.statusCode;
}

/** Probes come every few seconds and are not worth a line. */
function logLevel(request: FastifyRequest): "debug" | "info" | "error" {
  if (request.outcome.error !== undefined) return "error";
  return request.routeOptions.config.right === "none" ? "debug" : "info";
}
