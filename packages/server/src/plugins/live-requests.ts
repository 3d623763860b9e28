// Puts admitted requests of tracked routes on the request board while they run, and passes it their bodies and responses while it
// keeps those.
import { pipeline, Readable, Transform } from "node:stream";
import { wireErrors } from "@ingle/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import type { KnownKey } from "../access/keys.ts";
import type { KeptBody } from "../live/kept-bodies.ts";
import type { KeyMeter } from "../access/key-usage.ts";
import type { RequestBoard, EndStatus, TrackedRequest } from "../live/request-board.ts";
import { loggedStatus } from "./request-log.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether its requests appear on the board, because they give a model long work. */
    isTracked?: true;
  }
  interface FastifyRequest {
    /** The request on the board; null where the route is not tracked. */
    readonly tracked: TrackedRequest | null;
    /** Passes the bytes of the body to the board, which keeps the first ones while keeping bodies is enabled. */
    readonly keepBody: (pieces: readonly Uint8Array[]) => void;
  }
  interface FastifyInstance {
    readonly requestBoard: RequestBoard;
  }
}

interface LiveRequestsOptions {
  board: RequestBoard;
}

export const liveRequests = fp(
  async (app: FastifyInstance, { board }: LiveRequestsOptions) => {
    const kept = new WeakMap<FastifyRequest, KeptBody>();
    app.decorate("requestBoard", board);
    app.decorateRequest("tracked", null);
    app.decorateRequest("keepBody", function (this: FastifyRequest, pieces: readonly Uint8Array[]): void {
      if (this.tracked === null) return;
      const body = board.bodies.keep(this.tracked.id, pieces);
      if (body !== undefined) kept.set(this, body);
    });

    // After auth: refused requests are not on the board.
    app.addHook("preParsing", async (request, reply) => {
      if (request.routeOptions.config.isTracked !== true) return;
      const { key } = request;
      const meter = key?.name === null || key === null ? undefined : board.meters.of(key.name);
      if (key !== null && meter !== undefined) admit(meter, key, reply);
      const tracked = board.enter({
        id: request.id,
        method: request.method,
        path: request.routeOptions.url ?? "",
        client: request.ip,
        key: key?.name ?? null,
        keyDigest: key?.digest ?? null,
        meter,
        outcome: request.outcome,
        cancel: (reason) => request.cancel(reason),
        clock: () => performance.now(),
        now: () => Date.now(),
      });
      request.setDecorator<TrackedRequest | null>("tracked", tracked);
      request.atEnd(() => {
        const status = endStatus(request, reply);
        board.end(tracked, endStatusName(status), status);
      });
    });

    app.addHook("onSend", async (request, _reply, payload: unknown) => {
      const body = kept.get(request);
      if (body === undefined) return payload;
      if (payload instanceof Readable) return copied(payload, body);
      if (typeof payload === "string" || payload instanceof Uint8Array) body.addAnswer(payload);
      return payload;
    });
  },
  { name: "live-requests", dependencies: ["abort", "auth", "request-log"] },
);

/** Admits a request under the terms of its key, and tells how many tokens are left. Throws `rate_limited`. */
function admit(meter: KeyMeter, { terms }: KnownKey, reply: FastifyReply): void {
  const now = performance.now();
  const { tokens_per_minute: limit } = terms;
  if (limit !== undefined) {
    const { tokens, resetMs } = meter.minuteLeft(limit, now);
    reply.headers({
      "x-ratelimit-limit-tokens": limit,
      "x-ratelimit-remaining-tokens": tokens,
      "x-ratelimit-reset-tokens": `${Math.ceil(resetMs / 1000)}s`,
    });
  }
  meter.enter(terms, now);
}

/** A stream that fails after its first event has status 200, but the error counts. */
function endStatus(request: FastifyRequest, reply: FastifyReply): number {
  const { code } = request.outcome;
  return code === undefined || !reply.raw.writableFinished
    ? loggedStatus(request, reply)
    : wireErrors[code].status;
}

function endStatusName(status: number): EndStatus {
  if (status === wireErrors.client_closed.status || status === wireErrors.cancelled.status)
    return "cancelled";
  return status < wireErrors.invalid_request.status ? "done" : "failed";
}

/** The same stream, which is copied as it is read. Ends and fails with its source, and the source with it. */
function copied(source: Readable, body: KeptBody): Readable {
  const copy = new Transform({
    transform(chunk: string | Uint8Array, _encoding, done) {
      body.addAnswer(chunk);
      done(null, chunk);
    },
  });
  return pipeline(source, copy, () => {}); // each stream reports the other's failure
}
