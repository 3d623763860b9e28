// While the server closes: connections whose last reply has ended are closed too, instead of waiting for one more
// request that would be refused; and so are those that nobody has asked anything on. Clients open such spare connections,
// and Node does not count them as idle.
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";

export const drain = fp(
  async (app: FastifyInstance) => {
    let isClosing = false;
    const sockets = new Set<Socket>();
    app.server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
    app.addHook("preClose", async () => {
      isClosing = true;
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    });
    app.addHook("onResponse", async () => {
      // The connection becomes idle just after this hook.
      if (isClosing) setImmediate(() => app.server.closeIdleConnections());
    });
  },
  { name: "drain" },
);
