// Limits the memory of all bodies together. Each body has its own limit, but thousands of connections may each send a large one
// slowly: their bytes count from the first one until the response has ended.
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { WireError } from "../wire-error.ts";

declare module "fastify" {
  interface FastifyRequest {
    /**
     * Sets how many bytes the request's body takes: first the received bytes, later its parsed values. Throws `overloaded` if all
     * bodies together take too much.
     */
    readonly holdBody: (bytes: number) => void;
    /** Adds bytes that the request takes besides its body, such as stored items. Throws as `holdBody`. */
    readonly holdMore: (bytes: number) => void;
  }
}

/** Number of bodies of maximum size that fit; ordinary ones are a thousand times smaller. */
const largestBodies = 16;

export const bodyBudget = fp(
  async (app: FastifyInstance, { bodyBytesMax }: { bodyBytesMax: number }) => {
    const bytesMax = largestBodies * bodyBytesMax;
    let taken = 0;

    app.decorateRequest("holdBody");
    app.decorateRequest("holdMore");
    app.addHook("onRequest", async (request) => {
      let held = 0;
      let isOver = false;
      const hold = (bytes: number): void => {
        if (isOver) return; // the response was sent early; the rest of the body is discarded
        if (bytes > held && taken - held + bytes > bytesMax) {
          throw new WireError(
            "overloaded",
            "The bodies of other requests use all the memory for bodies; try again shortly.",
          );
        }
        taken += bytes - held;
        held = bytes;
      };
      request.setDecorator("holdBody", hold);
      request.setDecorator("holdMore", (bytes: number) => hold(held + bytes));
      request.atEnd(() => {
        isOver = true;
        taken -= held;
      });
    });

    app.addHook("preParsing", async ({ headers, holdBody }) => {
      // json-body refuses a length beyond the limit. Without a length, every piece is counted as it arrives.
      holdBody(Math.min(Number(headers["content-length"] ?? 0), bodyBytesMax));
    });
  },
  { name: "body-budget", dependencies: ["reply-end"] },
);
