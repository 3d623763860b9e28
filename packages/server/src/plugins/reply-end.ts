// request.atEnd(): runs actions when a request has ended: with its response, whether it was sent or the client left, unless its work
// goes on in the background. Fastify's onResponse hook
// misses clients that left. Node's 'close' comes exactly once after each response, except for pipelined ones that still wait
// when their connection breaks: for those, the socket's 'close' counts.
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";

declare module "fastify" {
  interface FastifyRequest {
    /** Calls `action` when the response is sent or the client gone, in order of registration; at once if it has ended. */
    readonly atEnd: (action: () => void) => void;
    /** Keeps the request running after its response has ended; the returned function ends it. Call it before the response. */
    readonly outliveReply: () => () => void;
  }
}

type End = () => void;

export const replyEnd = fp(
  async (app: FastifyInstance) => {
    const openReplies = new OpenReplies();
    app.decorateRequest("atEnd");
    app.decorateRequest("outliveReply");
    app.addHook("onRequest", async (request, reply) => {
      const actions: (() => void)[] = [];
      let isOver = false;
      let outlivesReply = false;
      request.setDecorator("atEnd", (action: () => void) => {
        if (isOver) action();
        else actions.push(action);
      });
      const end: End = () => {
        if (isOver) return;
        isOver = true;
        for (const action of actions) action();
      };
      const endWithReply: End = () => {
        if (!outlivesReply) end();
      };
      request.setDecorator("outliveReply", () => {
        outlivesReply = true;
        return end;
      });
      const replies = openReplies.on(request.socket);
      replies.add(endWithReply);
      reply.raw.once("close", () => {
        replies.delete(endWithReply);
        endWithReply();
      });
    });
  },
  { name: "reply-end" },
);

/** The responses of each connection that have not ended. */
class OpenReplies {
  readonly #ofSocket = new WeakMap<Socket, Set<End>>();

  /** They end with the connection. */
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
