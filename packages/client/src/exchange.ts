// One HTTP request and its response. Only this file distinguishes an abort, a timeout and a broken connection.
import { ConnectionError, IngleError, TimeoutError } from "./errors.ts";

/** The longest wait for the end of a response whose content is complete; then the connection is closed. */
const drainMs = 1_000;

/** The longest delay that timers support; longer ones would fire at once. */
const timerMaxMs = 2_147_483_647;

interface ExchangeOptions {
  /** How long the server may be silent, in milliseconds. */
  timeoutMs: number;
  /** Ends the exchange; pending calls reject with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** A request in flight. Its owner must read it to the end or close it. */
export class Exchange {
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  readonly #timeoutMs: number;
  #body: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor({ timeoutMs, signal }: ExchangeOptions) {
    this.#timeoutMs = timeoutMs;
    this.#signal = signal === undefined ? this.#stop.signal : AbortSignal.any([this.#stop.signal, signal]);
  }

  /** A response that was fetched elsewhere, without a timeout. */
  static over(bytes: ReadableStream<Uint8Array>, { signal }: Pick<ExchangeOptions, "signal">): Exchange {
    const exchange = new Exchange({ timeoutMs: Number.POSITIVE_INFINITY, signal });
    // On abort, the pipe ends its source and a pending read, as fetch does with its own body.
    exchange.#body = bytes.pipeThrough(new TransformStream(), { signal: exchange.#signal }).getReader();
    return exchange;
  }

  /** Sends the request and resolves with the response's head. */
  async send(request: (signal: AbortSignal) => Promise<Response>): Promise<Response> {
    this.throwIfEnded();
    const response = await this.#wait(() => request(this.#signal));
    this.#body = response.body?.getReader();
    return response;
  }

  /** Throws the reason if the exchange was aborted, timed out or was closed. */
  throwIfEnded(): void {
    this.#signal.throwIfAborted();
  }

  /** The next bytes of the response; `undefined` at its end. */
  async read(): Promise<Uint8Array | undefined> {
    const body = this.#body;
    if (body === undefined) return undefined;
    const { value } = await this.#wait(() => body.read());
    return value;
  }

  /** The rest of the response, as text. */
  async text(): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    for (let bytes = await this.read(); bytes !== undefined; bytes = await this.read()) {
      text += decoder.decode(bytes, { stream: true });
    }
    return text + decoder.decode();
  }

  /** Reads the rest so that the connection can be reused, but waits at most `drainMs` for it. */
  async drain(): Promise<void> {
    const timer = setTimeout(() => this.close(), drainMs);
    try {
      while ((await this.read()) !== undefined);
    } catch {
      // The content was complete: it does not matter how the connection ends.
    } finally {
      clearTimeout(timer);
    }
  }

  /** Closes the connection. Does nothing after the end. */
  close(): void {
    this.#stop.abort(new IngleError("the request was closed"));
  }

  async #wait<Value>(work: () => Promise<Value>): Promise<Value> {
    const timeOut = () => this.#stop.abort(new TimeoutError(this.#timeoutMs));
    const timer = this.#timeoutMs <= timerMaxMs ? setTimeout(timeOut, this.#timeoutMs) : undefined;
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
