// The event stream of any endpoint as an async iterable of its events. It is read once, can be left at any time, and can be
// forwarded as bytes.

// Programs compile against AsyncDisposable whether or not their own libraries of types have it.
/// <reference lib="esnext.disposable" preserve="true" />
import { createParser } from "eventsource-parser";

import { isRecord, parseJson, readWireError } from "./response-body.ts";
import { IngleError, StreamError } from "./errors.ts";
import { Exchange } from "./exchange.ts";
import type { CallOptions, OpenStream } from "./transport.ts";

/** Whether the stream is still open, was read to its end, or was cut short. */
type Outcome = { kind: "open" } | { kind: "whole" } | { kind: "cut"; reason: unknown };

/** The data of the event that ends a stream of the chat-completions convention. */
const endMarker = "[DONE]";

/**
 * Yields the data of each complete event. Comments (keep-alives) are skipped, and an event that is cut off by the end of the
 * bytes is not yielded.
 */
export async function* readEvents(
  read: () => Promise<Uint8Array | undefined>,
): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  const complete: string[] = [];
  const parser = createParser({ onEvent: (event) => complete.push(event.data) });
  for (let bytes = await read(); bytes !== undefined; bytes = await read()) {
    // The decoder keeps an incomplete character for the next bytes.
    parser.feed(decoder.decode(bytes, { stream: true }));
    yield* complete.splice(0);
  }
}

/**
 * The events of a reply. Read them once: by `for await`, by a method that waits for the end, or by `toReadableStream()`.
 * Leaving the loop early, `abort()` and the end of an `await using` block close the connection, which cancels the work on the
 * server. Events are read from the connection on demand, so a slow reader slows down the sender. A reply that was cut short
 * throws a `StreamError` or `ConnectionError`: a loop that ends normally has seen the complete reply.
 */
export abstract class ReplyStream<Event> implements AsyncIterable<Event>, AsyncDisposable {
  /** The response's `x-request-id`, if the server sent one. */
  readonly requestId: string | null;
  readonly #exchange: Exchange;
  #isTaken = false;
  #outcome: Outcome = { kind: "open" };
  #waiting: (() => void)[] = [];

  /** Takes ownership of the exchange. */
  constructor({ exchange, requestId }: OpenStream) {
    this.#exchange = exchange;
    this.requestId = requestId;
  }

  /**
   * Reads the bytes of `toReadableStream()`, or the body of any stream of the same endpoint, such as the response of a web
   * backend that forwards a stream. The signal works as for a request.
   */
  static fromReadableStream<Stream>(
    this: new (open: OpenStream) => Stream,
    bytes: ReadableStream<Uint8Array>,
    { signal }: CallOptions = {},
  ): Stream {
    return new this({ exchange: Exchange.over(bytes, { signal }), requestId: null });
  }

  /** Parses an event's data, which is JSON and not an error; returns `undefined` if it is invalid. */
  protected abstract toEvent(data: unknown): Event | undefined;

  /** Collects the complete reply. Called for each event before it is yielded. */
  protected abstract keep(event: Event): void;

  /** Whether this event completes the reply, for streams that have no `[DONE]`. */
  protected isLast(_event: Event): boolean {
    return false;
  }

  /** @throws IngleError if it is already being read: events are not stored. */
  [Symbol.asyncIterator](): AsyncIterator<Event, void, void> {
    if (this.#isTaken) throw new IngleError("this stream is already being read; it can be read once");
    this.#isTaken = true;
    const events = this.#read();
    return {
      next: () => events.next(),
      return: async () => {
        // The generator returns only after its pending read settles, so the read is aborted first.
        this.abort();
        return events.return();
      },
    };
  }

  /**
   * The rest of the reply as the bytes of an event stream in the server's own format, for a web backend that forwards it:
   * `new Response(stream.toReadableStream(), { headers: { "content-type": "text/event-stream" } })`. A server error is
   * forwarded as an error event; a broken connection breaks this stream too. Cancelling it calls `abort()`.
   * @throws IngleError if the stream is already being read.
   */
  toReadableStream(): ReadableStream<Uint8Array> {
    const events = this[Symbol.asyncIterator]();
    const encoder = new TextEncoder();
    let hasEnded = false;
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      const send = (text: string) => controller.enqueue(encoder.encode(text));
      try {
        const { done, value } = await events.next();
        if (done !== true) {
          hasEnded = this.isLast(value);
          return send(writeEvent(value));
        }
        if (this.#outcome.kind === "whole" && !hasEnded) send(writeData(endMarker));
      } catch (error) {
        if (!StreamError.is(error)) throw error;
        const { message, type, code } = error;
        send(writeEvent({ error: { message, type, param: null, code } }));
      }
      controller.close();
    };
    return new ReadableStream({ pull, cancel: () => this.abort() }, { highWaterMark: 0 });
  }

  /** Cancels the reply. A loop over it ends without an error; pending `final…` calls reject. May be called repeatedly. */
  abort(): void {
    this.#end({
      kind: "cut",
      reason: new StreamError("the stream was aborted before the reply was complete", "stream_aborted", null),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.abort();
  }

  /** Resolves when the reply is complete, and reads it unless another reader does. Rejects with the reason if it was cut. */
  protected async untilWhole(): Promise<void> {
    if (!this.#isTaken) for await (const _event of this);
    if (this.#outcome.kind === "open") await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#outcome.kind === "cut") throw this.#outcome.reason;
  }

  async *#read(): AsyncGenerator<Event, void, void> {
    try {
      for await (const data of readEvents(() => this.#exchange.read())) {
        // After an abort, events that had already arrived are not yielded.
        this.#exchange.throwIfEnded();
        if (data === endMarker) return await this.#finish();
        const event = this.#take(data);
        const isLast = this.isLast(event);
        // The reply counts as complete before its last event is yielded, so that leaving the loop at that event is not an abort.
        if (isLast) await this.#finish();
        yield event;
        if (isLast) return;
      }
      throw new StreamError("the stream ended before the reply was complete", "stream_incomplete", null);
    } catch (error) {
      const wasAborted = this.#outcome.kind !== "open";
      this.#end({ kind: "cut", reason: error });
      if (!wasAborted) throw error;
    } finally {
      this.abort();
    }
  }

  async #finish(): Promise<void> {
    await this.#exchange.drain();
    this.#end({ kind: "whole" });
  }

  #take(data: string): Event {
    const value = parseJson(data);
    const error = readWireError(value);
    if (error !== undefined) {
      const { message, code, type } = error;
      throw new StreamError(message ?? "the server failed while streaming", code ?? "internal", type);
    }
    const event = this.toEvent(value);
    if (event === undefined)
      throw new StreamError("the stream has data that is not part of a reply", "stream_invalid", null);
    this.keep(event);
    return event;
  }

  /** Only this method sets the outcome: the first call counts. */
  #end(outcome: Exclude<Outcome, { kind: "open" }>): void {
    if (this.#outcome.kind !== "open") return;
    this.#outcome = outcome;
    this.#exchange.close();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

function writeData(data: string): string {
  return `data: ${data}\n\n`;
}

/** Writes an event like the server: an event with a type has it as its name too. */
function writeEvent(event: unknown): string {
  const name = isRecord(event) && typeof event["type"] === "string" ? `event: ${event["type"]}\n` : "";
  return name + writeData(JSON.stringify(event));
}
