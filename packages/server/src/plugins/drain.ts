// While the server closes it takes no more work, on connections that stay open either, and closes those whose last reply has
// ended, instead of waiting for one more request that would be refused; and so those that nobody has asked anything on.
// Clients open such spare connections, and Node does not count them as idle.
import { setMaxListeners } from "node:events";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { shuttingDown } from "../models/model-errors.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** Aborted when the server begins to close. Replies that never end by themselves end then. */
    readonly drainSignal: AbortSignal;
    /** Requests for work that are not answered yet: what closing waits for. */
    openRequests(): number;
  }
}

export const drain = fp(
  async (app: FastifyInstance) => {
    const closing = new AbortController();
    setMaxListeners(0, closing.signal); // each endless reply listens
    let open = 0;
    const sockets = new Set<Socket>();
    app.decorate("drainSignal", closing.signal);
    app.decorate("openRequests", () => open);
    app.server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
    app.addHook("onRequest", async (request) => {
      if (request.method !== "POST") return; // the others tell something, and are answered at once
      if (closing.signal.aborted) throw shuttingDown();
      open += 1;
      request.atEnd(() => (open -= 1));
    });
    app.addHook("preClose", async () => {
      closing.abort(shuttingDown());
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    });
    app.addHook("onResponse", async () => {
      // The connection becomes idle just after this hook.
      if (closing.signal.aborted) setImmediate(() => app.server.closeIdleConnections());
    });
  },
  { name: "drain", dependencies: ["reply-end", "errors"] },
);
