// request.clientSignal: aborted when the client leaves before its response is complete, when the request is cancelled, or when
// draining runs out of time. It is the only signal that routes pass on. A client that stops reading is disconnected.
import { setMaxListeners } from "node:events";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { farewellMs } from "../http/broken-requests.ts";
import { WireError } from "../wire-error.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Aborts with a WireError: `client_closed`, `cancelled` or `shutting_down`. */
    readonly clientSignal: AbortSignal;
    /** Ends the request with this error, which is sent to the client; one that does not read it is disconnected. Idempotent. */
    readonly cancel: (reason: Error) => void;
  }
  interface FastifyInstance {
    /** Aborts every running request. */
    cutRequests(reason: WireError): void;
  }
}

export const abort = fp(
  async (app: FastifyInstance) => {
    const running = new Set<AbortController>();

    app.decorateRequest("clientSignal");
    app.decorateRequest("cancel");
    app.decorate("cutRequests", (reason: WireError) => {
      for (const controller of running) controller.abort(reason);
    });

    app.addHook("onRequest", async (request, reply) => {
      const controller = new AbortController();
      setMaxListeners(0, controller.signal); // each generation of a request listens
      running.add(controller);
      request.setDecorator("clientSignal", controller.signal);
      let isComplete = false;
      request.setDecorator("cancel", (reason: Error) => {
        if (controller.signal.aborted) return;
        if (!isComplete) {
          const hangUp = setTimeout(() => request.raw.socket.destroy(), farewellMs).unref();
          request.atEnd(() => clearTimeout(hangUp));
        }
        controller.abort(reason);
      });
      reply.raw.once("finish", () => {
        isComplete = true;
      });
      // Not Fastify's request.signal: it fires on every POST as soon as the body is read.
      request.atEnd(() => {
        running.delete(controller);
        if (!isComplete) controller.abort(new WireError("client_closed", "The client disconnected."));
      });
    });
  },
  { name: "abort", dependencies: ["reply-end"] },
);

/**
 * Disconnects a client that stops reading its response. Until then the response waits in bounded buffers; afterwards its work is
 * cancelled, as for any client that left.
 */
export const stalledReaders = fp(
  async (app: FastifyInstance, { timeoutMs }: { timeoutMs: number }) => {
    app.addHook("onRequest", async (request, reply) => {
      // Node restarts the timer with each byte sent or received. A silent connection is fine while the prompt is computed, but
      // not while bytes wait to be sent.
      reply.raw.setTimeout(timeoutMs, () => {
        const { socket } = request.raw;
        if (socket.writableLength > 0) {
          request.outcome.isReaderStalled = true;
          socket.destroy();
        }
      });
    });
  },
  { name: "stalled-readers", dependencies: ["request-log"] },
);
