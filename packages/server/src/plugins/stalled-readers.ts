// Disconnects a client that stops reading its response. Until then the response waits in bounded buffers; afterwards its work is
// cancelled, as for any client that left.
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";

export const stalledReaders = fp(
  async (app: FastifyInstance, { timeoutMs }: { timeoutMs: number }) => {
    app.addHook("onRequest", async (request, reply) => {
      // Node restarts the timer with each byte sent or received. A silent connection is fine while the prompt is computed, but
      // not while bytes wait to be sent.
      reply.raw.setTimeout(timeoutMs, () => {
        const { socket } = request.raw;
        if (socket.writableLength === 0) return;
        request.outcome.isReaderStalled = true;
        socket.destroy();
      });
    });
  },
  { name: "stalled-readers", dependencies: ["request-log"] },
);
