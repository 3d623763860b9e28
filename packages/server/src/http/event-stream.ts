// Server-sent events: their text form, and how a stream of them is sent. While a stream is silent, comments keep it open; an
// error after the first event becomes the last event.
import { Readable } from "node:stream";
import type { ErrorBody } from "@ingle/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";

/** Ends a stream that is complete. */
export const doneEvent = "data: [DONE]\n\n";
/** A line that clients skip; it keeps proxies from closing a silent stream. */
export const keepAliveComment = ":\n\n";

/** JSON has no line breaks, so one line is always enough. */
export function dataEvent(json: string): string {
  return `data: ${json}\n\n`;
}

/** One line of a stream of JSON objects. */
export function jsonLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** An event with a name, for the APIs that use names. */
export function namedEvent(name: string, json: string): string {
  return `event: ${name}\n${dataEvent(json)}`;
}

/** Writes events of objects that share their first fields, which are serialized once. Takes the other fields as a JSON object. */
export function eventsWithHead(head: object): (rest: string) => string {
  const open = `data: ${JSON.stringify(head).slice(0, -1)},`;
  return (rest) => `${open}${rest.slice(1)}\n\n`;
}

export interface SendOptions {
  /** Maximum silence before a comment is sent, in milliseconds. Undefined: this kind of stream has no comments. */
  keepAliveMs: number | undefined;
  /** Default: server-sent events. */
  contentType?: string | undefined;
  /** The events that end a stream after an error. Default: one event with the error's body. */
  toErrorEvents?: ((error: ErrorBody) => string) | undefined;
}

/** Sends a stream. An error before the first event is an HTTP error; a later one ends the stream. */
export function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  events: AsyncIterable<string>,
  {
    keepAliveMs,
    contentType = "text/event-stream",
    toErrorEvents = (body) => dataEvent(JSON.stringify(body)),
  }: SendOptions,
): FastifyReply {
  const stream = eventStream(events, {
    keepAliveMs,
    toErrorEvents: (error) => toErrorEvents(request.failWith(error)),
  });
  return reply
    .header("content-type", contentType)
    .header("cache-control", "no-cache")
    .header("x-accel-buffering", "no") // nginx would otherwise buffer the tokens
    .send(Readable.from(stream));
}

interface EventStreamOptions {
  /** Maximum silence before a comment is sent, in milliseconds. Undefined: none is sent. */
  keepAliveMs: number | undefined;
  toErrorEvents: (error: unknown) => string;
}

/**
 * Passes events on. Throws an error that comes before the first event, so that it can be an HTTP error. A later one becomes
 * the last event: a stream that was cut short never looks complete.
 */
export async function* eventStream(
  events: AsyncIterable<string>,
  options: EventStreamOptions,
): AsyncGenerator<string, void, undefined> {
  let isStarted = false;
  try {
    for await (const event of withKeepAlive(events, options.keepAliveMs)) {
      isStarted = true;
      yield event;
    }
  } catch (error) {
    if (!isStarted) throw error;
    yield options.toErrorEvents(error);
  }
}

async function* withKeepAlive(
  events: AsyncIterable<string>,
  silenceMs: number | undefined,
): AsyncGenerator<string, void, undefined> {
  const iterator = events[Symbol.asyncIterator]();
  try {
    let next = iterator.next();
    for (;;) {
      const result = silenceMs === undefined ? await next : await orSilence(next, silenceMs);
      if (result === "silence") {
        yield keepAliveComment;
        continue;
      }
      if (result.done === true) return;
      yield result.value;
      next = iterator.next();
    }
  } finally {
    void closeQuietly(iterator); // not awaited: a pending next() may take long to settle, and the stream has ended
  }
}

async function orSilence<T>(pending: Promise<T>, silenceMs: number): Promise<T | "silence"> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<"silence">((resolve) => {
    timer = setTimeout(resolve, silenceMs, "silence");
  });
  try {
    return await Promise.race([pending, silence]);
  } finally {
    clearTimeout(timer);
  }
}

async function closeQuietly(iterator: AsyncIterator<string>): Promise<void> {
  try {
    await iterator.return?.();
  } catch {
    // Nobody reads the stream any more.
  }
}
