// One HTTP request from its sending to the end of its answer: the one place where abort, silence and a broken
// connection are told apart. Used by transport.ts, reply-stream.ts and chat-stream.ts.
import { ConnectionError, IngleError, TimeoutError } from "./errors.ts";

/** Longest wait for the end of an answer that has already said everything; after it the connection is given up. */
const drainMs = 1_000;

/** Longest delay that timers can count; beyond it they would fire at once. */
const timerMaxMs = 2_147_483_647;

/** How an exchange is limited. */
export interface ExchangeOptions {
  /** Longest silence of the server in milliseconds. */
  timeoutMs: number;
  /** Ends the exchange; what waits for it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** A request under way. Whoever holds one reads it to its end or closes it. */
export class Exchange {
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  readonly #timeoutMs: number;
  #body: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor({ timeoutMs, signal }: ExchangeOptions) {
    this.#timeoutMs = timeoutMs;
    this.#signal = signal === undefined ? this.#stop.signal : AbortSignal.any([this.#stop.signal, signal]);
  }

  /** An answer whose bytes somebody else fetched; their silence is that one's to judge. */
  static over(bytes: ReadableStream<Uint8Array>, { signal }: Pick<ExchangeOptions, "signal">): Exchange {
    const exchange = new Exchange({ timeoutMs: Number.POSITIVE_INFINITY, signal });
    // The pipe ends its source, and a read that waits for it, when the signal does: as fetch does with its own.
    exchange.#body = bytes.pipeThrough(new TransformStream(), { signal: exchange.#signal }).getReader();
    return exchange;
  }

  /** Sends the request and resolves with the answer's head. */
  async send(request: (signal: AbortSignal) => Promise<Response>): Promise<Response> {
    this.throwIfEnded();
    const response = await this.#wait(() => request(this.#signal));
    this.#body = response.body?.getReader();
    return response;
  }

  /** Throws why the exchange was ended before its time, if it was. */
  throwIfEnded(): void {
    this.#signal.throwIfAborted();
  }

  /** The next bytes of the answer; `undefined` at its end. */
  async read(): Promise<Uint8Array | undefined> {
    const body = this.#body;
    if (body === undefined) return undefined;
    const { value } = await this.#wait(() => body.read());
    return value;
  }

  /** The rest of the answer as text. */
  async text(): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    for (let bytes = await this.read(); bytes !== undefined; bytes = await this.read()) {
      text += decoder.decode(bytes, { stream: true });
    }
    return text + decoder.decode();
  }

  /** Reads over what is left, so that the connection can be used again, but does not wait long for it. */
  async drain(): Promise<void> {
    const timer = setTimeout(() => this.close(), drainMs);
    try {
      while ((await this.read()) !== undefined);
    } catch {
      // Everything that mattered has been read: how the connection ends changes nothing.
    } finally {
      clearTimeout(timer);
    }
  }

  /** Gives the request up and closes its connection. Does nothing after the end. */
  close(): void {
    this.#stop.abort(new IngleError("the request was closed"));
  }

  async #wait<Value>(work: () => Promise<Value>): Promise<Value> {
    const giveUp = () => this.#stop.abort(new TimeoutError(this.#timeoutMs));
    const timer = this.#timeoutMs <= timerMaxMs ? setTimeout(giveUp, this.#timeoutMs) : undefined;
    try {
      return await work();
    } catch (cause) {
      this.throwIfEnded();
      throw new ConnectionError("the server cannot be reached or the connection broke; is it running?", {
        cause,
      });
    } finally {
      clearTimeout(timer);
    }
  }
}
