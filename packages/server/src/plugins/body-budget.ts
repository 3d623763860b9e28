// The memory of all bodies together. Each one is bounded by itself, but thousands of connections may each send a large one
// slowly: what they take from their first byte until their reply has ended is counted here.
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { WireError } from "../wire-error.ts";

declare module "fastify" {
  interface FastifyRequest {
    /**
     * Says how many bytes the request's body takes now, of which it has said another number before: those that have come, and
     * then those of the values that they mean. Throws `overloaded` when all bodies take too much.
     */
    readonly holdBody: (bytes: number) => void;
  }
}

/** How many of the largest bodies may be here at once; ordinary requests are a thousandth of one. */
const largestBodies = 16;
/** Seconds after which somebody's reply may have ended. */
const retryAfterSeconds = 2;

export const bodyBudget = fp(
  async (app: FastifyInstance, { bodyBytesMax }: { bodyBytesMax: number }) => {
    const bytesMax = largestBodies * bodyBytesMax;
    let taken = 0;

    app.decorateRequest("holdBody");
    app.addHook("onRequest", async (request) => {
      let held = 0;
      let isOver = false;
      request.setDecorator("holdBody", (bytes: number) => {
        if (isOver) return; // the reply has gone out early, and what still comes of the body is thrown away
        if (bytes > held && taken - held + bytes > bytesMax) {
          throw new WireError(
            "overloaded",
            "The bodies of other requests fill the memory; try again shortly.",
            { retryAfterSeconds },
          );
        }
        taken += bytes - held;
        held = bytes;
      });
      request.atEnd(() => {
        isOver = true;
        taken -= held;
      });
    });

    app.addHook("preParsing", async ({ headers, holdBody }) => {
      // A length beyond the limit is refused by the parser, whatever it is. Without one, every piece is counted as it comes.
      holdBody(Math.min(Number(headers["content-length"] ?? 0), bodyBytesMax));
    });
  },
  { name: "body-budget", dependencies: ["reply-end"] },
);
