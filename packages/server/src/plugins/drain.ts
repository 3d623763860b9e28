// While the server closes: connections whose last reply has ended are closed too, instead of waiting for one more
// request that would be refused.
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";

export const drain = fp(
  async (app: FastifyInstance) => {
    let isClosing = false;
    app.addHook("preClose", async () => {
      isClosing = true;
    });
    app.addHook("onResponse", async () => {
      // The connection becomes idle just after this hook.
      if (isClosing) setImmediate(() => app.server.closeIdleConnections());
    });
  },
  { name: "drain" },
);
