// Responds to input that never becomes a request, so that no hook and no route sees it. app.ts passes these handlers to Fastify.
import type { Socket } from "node:net";
import { errorBody, wireErrors } from "@ingle/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";

/** Time for a client to read the error before its connection is closed. */
export const farewellMs = 1_000;

/** A path whose percent signs cannot be decoded. */
export function sendBadPath(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  void reply // sends; awaiting a reply means waiting for its end
    .code(wireErrors.invalid_request.status)
    .header("x-request-id", request.id)
    .send(errorBody("invalid_request", "The path cannot be decoded; write each % as %25."));
}

/**
 * For bytes that are not HTTP, or a request that did not arrive in time: the response is raw text, and the connection is closed.
 */
export function sendBrokenHttp(error: Error, socket: Socket): void {
  if (!socket.writable) return;
  const body = JSON.stringify(errorBody("invalid_request", whatIsBroken(error)));
  socket.end(
    `HTTP/1.1 ${wireErrors.invalid_request.status} Bad Request\r\n` +
      "Connection: close\r\nContent-Type: application/json; charset=utf-8\r\n" +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  // A client that neither reads nor closes would keep its half of the connection forever.
  setTimeout(() => socket.destroy(), farewellMs).unref();
}

function whatIsBroken(error: Error): string {
  switch (Reflect.get(error, "code")) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return "The request took too long to arrive.";
    case "HPE_HEADER_OVERFLOW":
      return "The headers of the request are too large.";
    default:
      return "This is not an HTTP request.";
  }
}
