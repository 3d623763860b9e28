// How requests end: with their response, when their client leaves or stops reading, when they are cancelled, or when the server closes.
// request.atEnd() runs actions then, unless the work goes on in the background; request.clientSignal is the only signal that routes pass on.
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { setMaxListeners } from "node:events";
import { farewellMs } from "../http/broken-requests.ts";
import { WireError } from "../wire-error.ts";
import { shuttingDown } from "../models/model-errors.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Calls `action` when the response is sent or the client gone, in order of registration; at once if it has ended. */
    readonly atEnd: (action: () => void) => void;
    /** Keeps the request running after its response has ended; the returned function ends it. Call it before the response. */
    readonly outliveReply: () => () => void;
    /** Aborts with a WireError: `client_closed`, `cancelled` or `shutting_down`. */
    readonly clientSignal: AbortSignal;
    /** Ends the request with this error, which is sent to the client; one that does not read it is disconnected. Idempotent. */
    readonly cancel: (reason: Error) => void;
  }
  interface FastifyInstance {
    /** Aborts every running request. */
    cutRequests(reason: WireError): void;
    /** Aborted when the server begins to close; endless responses then end. */
    readonly drainSignal: AbortSignal;
    /** Number of running POST requests, which closing waits for. */
    openRequests(): number;
  }
}

type End = () => void;

/**
 * `request.atEnd()`. Fastify's onResponse hook misses clients that left. Node's 'close' comes exactly once after each response, except
 * for pipelined ones that still wait when their connection breaks: for those, the socket's 'close' counts.
 */
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

/** `request.clientSignal` and `request.cancel()`. */
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
      setMaxListeners(0, controller.signal); // each generation of a request listens
      running.add(controller);
      request.setDecorator("clientSignal", controller.signal);
      let isComplete = false;
      request.setDecorator("cancel", (reason: Error) => {
        if (controller.signal.aborted) return;
        if (!isComplete) {
          const hangUp = setTimeout(() => request.raw.socket.destroy(), farewellMs).unref();
          request.atEnd(() => clearTimeout(hangUp));
        }
        controller.abort(reason);
      });
      reply.raw.once("finish", () => {
        isComplete = true;
      });
      // Not Fastify's request.signal: it fires on every POST as soon as the body is read.
      request.atEnd(() => {
        running.delete(controller);
        if (!isComplete) controller.abort(new WireError("client_closed", "The client disconnected."));
      });
    });
  },
  { name: "abort", dependencies: ["reply-end"] },
);

/**
 * Disconnects a client that stops reading its response. Until then the response waits in bounded buffers; afterwards its work is
 * cancelled, as for any client that left.
 */
export const stalledReaders = fp(
  async (app: FastifyInstance, { timeoutMs }: { timeoutMs: number }) => {
    app.addHook("onRequest", async (request, reply) => {
      // Node restarts the timer with each byte sent or received. A silent connection is fine while the prompt is computed, but
      // not while bytes wait to be sent.
      reply.raw.setTimeout(timeoutMs, () => {
        const { socket } = request.raw;
        if (socket.writableLength > 0) {
          request.outcome.isReaderStalled = true;
          socket.destroy();
        }
      });
    });
  },
  { name: "stalled-readers", dependencies: ["request-log"] },
);

/**
 * A closing server refuses new work, even on open connections. It closes each connection when its last response has ended, and
 * immediately those that never had a request: clients open spare ones, which Node does not count as idle.
 */
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
