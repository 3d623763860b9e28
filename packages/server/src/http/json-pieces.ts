// Answers that are too long to be written in one go: piece by piece, and others have their turn between two of them. Used by the
// routes that tell tokens, texts and vectors.
import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { FastifyReply } from "fastify";

/** Sends the pieces of one JSON text. They are made as they are sent. */
export function sendPieces(reply: FastifyReply, pieces: Iterable<string>): FastifyReply {
  return reply.header("content-type", "application/json; charset=utf-8").send(Readable.from(paced(pieces)));
}

/** A connection that takes everything at once would never let the event loop go on. */
async function* paced(pieces: Iterable<string>): AsyncGenerator<string, void, undefined> {
  for (const piece of pieces) {
    yield piece;
    await setImmediate();
  }
}
