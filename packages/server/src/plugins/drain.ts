// A closing server refuses new work, even on open connections. It closes each connection when its last response has ended, and
// immediately those that never had a request: clients open spare ones, which Node does not count as idle.
import { setMaxListeners } from "node:events";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { shuttingDown } from "../models/model-errors.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** Aborted when the server begins to close; endless responses then end. */
    readonly drainSignal: AbortSignal;
    /** Number of running POST requests, which closing waits for. */
    openRequests(): number;
  }
}

export const drain = fp(
  async (app: FastifyInstance) => {
    const closing = new AbortController();
    setMaxListeners(0, closing.signal); // each endless response listens
    let open = 0;
    const sockets = new Set<Socket>();
    app.decorate("drainSignal", closing.signal);
    app.decorate("openRequests", () => open);
    app.server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
    app.addHook("onRequest", async (request) => {
      if (request.method !== "POST") return; // other methods only read and end quickly
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
