// A streamed reply as an async iterable of chunks. Returned by chat.completions.create({ stream: true }).
import type { ChatCompletionChunk } from "@ingle/protocol";

import { isRecord, parseJson, readWireError } from "./answer.ts";
import { IngleError, StreamError } from "./errors.ts";
import { readEvents } from "./event-stream.ts";
import type { OpenAnswer } from "./transport.ts";

/**
 * The chunks of a reply, to be read once, by `for await` or by `finalText()`. Leaving the loop early, `abort()` and the
 * end of an `await using` block close the connection, which makes the server stop generating. A reply that was cut short
 * ends in a `StreamError` or `ConnectionError`: a loop that ends by itself has seen the whole reply.
 */
export class ChatStream implements AsyncIterable<ChatCompletionChunk>, AsyncDisposable {
  /** The answer's `x-request-id`, when the server sent one. */
  readonly requestId: string | null;
  readonly #exchange: OpenAnswer["exchange"];
  #isTaken = false;
  #isLeft = false;

  constructor({ response, exchange }: OpenAnswer) {
    this.requestId = response.headers.get("x-request-id");
    this.#exchange = exchange;
  }

  /** @throws IngleError on a second reading: the chunks are not kept. */
  [Symbol.asyncIterator](): AsyncIterator<ChatCompletionChunk, void, void> {
    if (this.#isTaken) throw new IngleError("this stream is already being read; it can be read once");
    this.#isTaken = true;
    const chunks = this.#read();
    return {
      next: () => chunks.next(),
      return: async () => {
        // A generator would only learn of it when its pending read settles, so the read is ended first.
        this.abort();
        return chunks.return();
      },
    };
  }

  /** Reads the whole reply and resolves with the text of its first choice. */
  async finalText(): Promise<string> {
    let text = "";
    for await (const chunk of this) {
      for (const choice of chunk.choices) {
        if (choice.index === 0) text += choice.delta.content ?? "";
      }
    }
    return text;
  }

  /** Ends the reply here. A loop over it ends without an error. A second call does nothing. */
  abort(): void {
    this.#isLeft = true;
    this.#exchange.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.abort();
  }

  async *#read(): AsyncGenerator<ChatCompletionChunk, void, void> {
    try {
      for await (const data of readEvents(() => this.#exchange.read())) {
        // Events that came in before an abort are not given out after it.
        this.#exchange.throwIfEnded();
        if (data === "[DONE]") {
          await this.#exchange.drain();
          return;
        }
        yield readChunk(data);
      }
      throw new StreamError("the stream ended before the reply was complete", "stream_incomplete", null);
    } catch (error) {
      if (!this.#isLeft) throw error;
    } finally {
      this.#exchange.close();
    }
  }
}

function isChunk(value: unknown): value is ChatCompletionChunk {
  return isRecord(value) && Array.isArray(value["choices"]);
}

function readChunk(data: string): ChatCompletionChunk {
  const value = parseJson(data);
  const error = readWireError(value);
  if (error !== undefined) {
    throw new StreamError(
      error.message ?? "the server failed while streaming",
      error.code ?? "internal",
      error.type,
    );
  }
  if (!isChunk(value))
    throw new StreamError("the stream holds data that is no chunk of a reply", "stream_invalid", null);
  return value;
}
