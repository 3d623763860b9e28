// Sends a stream of events as the reply. Used by the routes that generate.
import { Readable } from "node:stream";
import type { ErrorBody } from "@ingle/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";
import { dataEvent, eventStream } from "./event-stream.ts";

export interface SendOptions {
  /** Longest silence before a comment is sent, in milliseconds. */
  keepAliveMs: number;
  /** The event that tells of an error after the first event, whole. Default: the error's body as data. */
  toErrorEvent?: (body: ErrorBody) => string;
}

/** An error before the first event is an HTTP error; a later one is the last event. */
export function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  events: AsyncIterable<string>,
  { keepAliveMs, toErrorEvent = (body) => dataEvent(JSON.stringify(body)) }: SendOptions,
): FastifyReply {
  const stream = eventStream(events, {
    keepAliveMs,
    toErrorEvent: (error) => toErrorEvent(request.failWith(error)),
  });
  return reply
    .header("content-type", "text/event-stream")
    .header("cache-control", "no-cache")
    .header("x-accel-buffering", "no") // nginx would hold the tokens back
    .send(Readable.from(stream));
}
