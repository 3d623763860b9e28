// A streamed answer of any endpoint as an async iterable of its events: read once, left at any time, handed on as bytes.
// chat-stream.ts and the streams of the other endpoints say what their events are and what they make together.
import { isRecord, parseJson, readWireError } from "./answer.ts";
import { IngleError, StreamError } from "./errors.ts";
import { readEvents } from "./event-stream.ts";
import { Exchange } from "./exchange.ts";
import type { CallOptions, OpenStream } from "./transport.ts";

/** How a stream stands: nobody has come to its end yet, somebody has, or it was ended before. */
type Outcome = { kind: "open" } | { kind: "whole" } | { kind: "cut"; reason: unknown };

/** The data of the event that ends a stream of the chat-completions convention. */
const endMarker = "[DONE]";

/**
 * The events of a reply, to be read once: by `for await`, by a method that waits for the end, or by `toReadableStream()`.
 * Leaving the loop early, `abort()` and the end of an `await using` block close the connection, which makes the server
 * stop. Events are taken from the connection as they are asked for, so a slow reader slows the sender down. A reply that
 * was cut short ends in a `StreamError` or `ConnectionError`: a loop that ends by itself has seen the whole reply.
 */
export abstract class ReplyStream<Event> implements AsyncIterable<Event>, AsyncDisposable {
  /** The answer's `x-request-id`, when the server sent one. */
  readonly requestId: string | null;
  readonly #exchange: Exchange;
  #isTaken = false;
  #outcome: Outcome = { kind: "open" };
  #waiting: (() => void)[] = [];

  /** Takes over the exchange: from here on nobody else reads or closes it. */
  constructor({ exchange, requestId }: OpenStream) {
    this.#exchange = exchange;
    this.requestId = requestId;
  }

  /**
   * Reads what `toReadableStream()` gave, or the body of any stream of the same endpoint: in a browser, the answer of a
   * backend that passes a stream on. A signal ends it as it ends a request.
   */
  static fromReadableStream<Stream>(
    this: new (open: OpenStream) => Stream,
    bytes: ReadableStream<Uint8Array>,
    { signal }: CallOptions = {},
  ): Stream {
    return new this({ exchange: Exchange.over(bytes, { signal }), requestId: null });
  }

  /** The event that an event's data hold, or `undefined` when they hold none; the data are JSON and no error. */
  protected abstract toEvent(data: unknown): Event | undefined;

  /** Keeps what the whole reply is made of. Called for each event before it is given out. */
  protected abstract keep(event: Event): void;

  /** Whether the reply is whole with this event, of a stream that has an event for that instead of `[DONE]`. */
  protected isLast(_event: Event): boolean {
    return false;
  }

  /** @throws IngleError on a second reading: the events are not kept. */
  [Symbol.asyncIterator](): AsyncIterator<Event, void, void> {
    if (this.#isTaken) throw new IngleError("this stream is already being read; it can be read once");
    this.#isTaken = true;
    const events = this.#read();
    return {
      next: () => events.next(),
      return: async () => {
        // A generator would only learn of it when its pending read settles, so the read is ended first.
        this.abort();
        return events.return();
      },
    };
  }

  /**
   * The rest of the reply as the bytes of an event stream in the server's own form, for a web backend that passes it on:
   * `new Response(stream.toReadableStream(), { headers: { "content-type": "text/event-stream" } })`. An error of the
   * server goes on as an error event; a connection that breaks breaks this stream too. Cancelling it is `abort()`.
   * @throws IngleError when the stream is being read already.
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

  /** Ends the reply here. A loop over it ends without an error; what waits for the whole reply rejects. Once is enough. */
  abort(): void {
    this.#end({
      kind: "cut",
      reason: new StreamError("the stream was left before the reply was complete", "stream_aborted", null),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.abort();
  }

  /** Resolves when the reply is whole, reading it when nobody else does; rejects with what kept it from that. */
  protected async untilWhole(): Promise<void> {
    if (!this.#isTaken) for await (const _event of this);
    if (this.#outcome.kind === "open") await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#outcome.kind === "cut") throw this.#outcome.reason;
  }

  async *#read(): AsyncGenerator<Event, void, void> {
    try {
      for await (const data of readEvents(() => this.#exchange.read())) {
        // Events that came in before an abort are not given out after it.
        this.#exchange.throwIfEnded();
        if (data === endMarker) return await this.#finish();
        const event = this.#take(data);
        const isLast = this.isLast(event);
        // Whole before its last event is given out: who leaves the loop with that one leaves nothing behind.
        if (isLast) await this.#finish();
        yield event;
        if (isLast) return;
      }
      throw new StreamError("the stream ended before the reply was complete", "stream_incomplete", null);
    } catch (error) {
      const isLeft = this.#outcome.kind !== "open";
      this.#end({ kind: "cut", reason: error });
      if (!isLeft) throw error;
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
      throw new StreamError("the stream holds data that is no part of a reply", "stream_invalid", null);
    this.keep(event);
    return event;
  }

  /** The one place that moves the outcome: the first end counts. */
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

/** An event as the servers of its endpoint write it: one that has a type has it as its name, too. */
function writeEvent(event: unknown): string {
  const name = isRecord(event) && typeof event["type"] === "string" ? `event: ${event["type"]}\n` : "";
  return name + writeData(JSON.stringify(event));
}
