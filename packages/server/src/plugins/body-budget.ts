// The memory of all bodies together. Each one is bounded by itself, but thousands of connections may each send a large one
// slowly: what they take from their first byte until their reply has ended is counted here.
import { Transform } from "node:stream";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { WireError } from "../wire-error.ts";

/** How many of the largest bodies may be here at once; ordinary requests are a thousandth of one. */
const largestBodies = 16;
/** Seconds after which somebody's reply may have ended. */
const retryAfterSeconds = 2;

export const bodyBudget = fp(
  async (app: FastifyInstance, { bodyBytesMax }: { bodyBytesMax: number }) => {
    const bytesMax = largestBodies * bodyBytesMax;
    let taken = 0;

    app.addHook("preParsing", async ({ headers, atEnd }, _reply, payload) => {
      let held = 0;
      let isOver = false;
      const take = (bytes: number): void => {
        if (isOver) return; // the reply has gone out early, and what still comes of the body is thrown away
        if (taken + bytes > bytesMax) {
          throw new WireError(
            "overloaded",
            "The bodies of other requests fill the memory; try again shortly.",
            {
              retryAfterSeconds,
            },
          );
        }
        taken += bytes;
        held += bytes;
      };
      atEnd(() => {
        isOver = true;
        taken -= held;
      });
      if (headers["transfer-encoding"] !== undefined) return payload.pipe(counted(take));
      // A length beyond the limit is refused by the parser, whatever it is.
      take(Math.min(Number(headers["content-length"] ?? 0), bodyBytesMax));
      return payload;
    });
  },
  { name: "body-budget", dependencies: ["reply-end"] },
);

/** Nobody has said how long it is, so every piece is counted as it comes. */
function counted(take: (bytes: number) => void): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        take(chunk.length);
        done(null, chunk);
      } catch (error) {
        done(error instanceof Error ? error : new Error("A body could not be counted.", { cause: error }));
      }
    },
  });
}
