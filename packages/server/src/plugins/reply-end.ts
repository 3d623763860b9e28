// request.atEnd(): the one place that hears of a reply's end, for all who give something back or write something down
// then. Fastify's onResponse hook knows nothing of clients that left; 'close' comes exactly once, after every reply, but
// for those that wait behind another one on their connection: when that breaks, Node tells them nothing.
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";

declare module "fastify" {
  interface FastifyRequest {
    /** Calls `action` when the reply is out or its client gone, in order of registration; at once when it is too late. */
    readonly atEnd: (action: () => void) => void;
  }
}

type End = () => void;

export const replyEnd = fp(
  async (app: FastifyInstance) => {
    const openReplies = new OpenReplies();
    app.decorateRequest("atEnd");
    app.addHook("onRequest", async (request, reply) => {
      const actions: (() => void)[] = [];
      let isOver = false;
      request.setDecorator("atEnd", (action: () => void) => {
        if (isOver) action();
        else actions.push(action);
      });
      const end: End = () => {
        if (isOver) return;
        isOver = true;
        for (const action of actions) action();
      };
      const replies = openReplies.on(request.socket);
      replies.add(end);
      reply.raw.once("close", () => {
        replies.delete(end);
        end();
      });
    });
  },
  { name: "reply-end" },
);

/** What is still to be answered on each connection. */
class OpenReplies {
  readonly #ofSocket = new WeakMap<Socket, Set<End>>();

  /** All of it ends when the connection does. */
  on(socket: Socket): Set<End> {
    const known = this.#ofSocket.get(socket);
    if (known !== undefined) return known;
    const ends = new Set<End>();
    this.#ofSocket.set(socket, ends);
    socket.once("close", () => {
      for (const end of ends) end();
    });
    return ends;
  }
}
