// Receives a body within its limits and decodes it, for every route that has one.
import type { Readable } from "node:stream";
import type { FastifyRequest } from "fastify";
import type { WireError } from "../wire-error.ts";
import { gather, type BodyPieces } from "./body-pieces.ts";
import { codingsOf, decodeBody } from "./content-codings.ts";

export interface BodyLimit {
  /** Maximum number of bytes, both as they are sent and decoded. */
  bytesMax: number;
  /** The error for more. */
  tooLarge: () => WireError;
}

/** Throws the limit's error, `overloaded`, what `codingsOf` and `decodeBody` throw, and the client's abort. */
export async function receiveBody(
  request: FastifyRequest,
  payload: Readable,
  { bytesMax, tooLarge }: BodyLimit,
): Promise<BodyPieces> {
  const codings = codingsOf(request.headers["content-encoding"]);
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > bytesMax) throw tooLarge();
  const holdAtMost = (length: number, besides: number): void => {
    if (length > bytesMax) throw tooLarge();
    request.holdBody(length + besides);
  };
  const onReceived = (length: number): void => holdAtMost(length, Math.max(0, declared - length));
  const signal = request.clientSignal;
  const received = await gather(payload, onReceived, signal);
  if (received.length === 0) return received;
  return await decodeBody(received, codings, { onBytes: holdAtMost, signal });
}
