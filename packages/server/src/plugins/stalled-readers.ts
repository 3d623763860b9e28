// A client that does not read its reply is hung up on after a while: until then its reply waits in buffers that are
// bounded (a few pieces here, the socket's own), and after that its work is cancelled as for any client that left.
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";

export const stalledReaders = fp(
  async (app: FastifyInstance, { timeoutMs }: { timeoutMs: number }) => {
    app.addHook("onRequest", async (request, reply) => {
      // Node's timer starts anew with each byte that moves, so it fires only when nothing did. A silent connection is
      // fine while the prompt is computed; one with something left to send is not.
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
