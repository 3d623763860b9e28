// request.clientSignal: aborted when the client goes away before its reply is whole, when somebody cancels the request, or when a
// drain runs out of time. The only signal that routes hand on.
import { setMaxListeners } from "node:events";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { WireError } from "../wire-error.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Aborts with a WireError: `client_closed`, `cancelled` or `shutting_down`. */
    readonly clientSignal: AbortSignal;
    /** Ends the request with this error, which its client is told; one that does not read it is hung up on. Idempotent. */
    readonly cancel: (reason: Error) => void;
  }
  interface FastifyInstance {
    /** Aborts every request that runs. */
    cutRequests(reason: WireError): void;
  }
}

/** After a cut, replies have this long to say that they were cut, before their connections end. */
export const farewellMs = 1_000;

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
      setMaxListeners(0, controller.signal); // each of a request's replies listens
      running.add(controller);
      request.setDecorator("clientSignal", controller.signal);
      request.setDecorator("cancel", (reason: Error) => {
        if (controller.signal.aborted) return;
        const hangUp = setTimeout(() => request.raw.socket.destroy(), farewellMs).unref();
        request.atEnd(() => clearTimeout(hangUp));
        controller.abort(reason);
      });
      let isWhole = false;
      reply.raw.once("finish", () => {
        isWhole = true;
      });
      // Fastify's own request.signal fires on every POST as soon as its body is read: the reply's end is the truth.
      request.atEnd(() => {
        running.delete(controller);
        if (!isWhole) controller.abort(new WireError("client_closed", "The client went away."));
      });
    });
  },
  { name: "abort", dependencies: ["reply-end"] },
);
