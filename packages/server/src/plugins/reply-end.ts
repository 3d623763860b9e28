// request.atEnd(): the one place that hears of a reply's end, for all who give something back or write something down
// then. Fastify's onResponse hook knows nothing of clients that left; 'close' comes exactly once, after every reply.
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";

declare module "fastify" {
  interface FastifyRequest {
    /** Calls `action` when the reply is out or its client gone, in order of registration; at once when it is too late. */
    readonly atEnd: (action: () => void) => void;
  }
}

export const replyEnd = fp(
  async (app: FastifyInstance) => {
    app.decorateRequest("atEnd");
    app.addHook("onRequest", async (request, reply) => {
      const actions: (() => void)[] = [];
      request.setDecorator("atEnd", (action: () => void) => {
        if (reply.raw.closed) action();
        else actions.push(action);
      });
      reply.raw.once("close", () => {
        for (const action of actions) action();
      });
    });
  },
  { name: "reply-end" },
);
