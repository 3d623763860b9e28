// A signal with a time limit.

/**
 * Aborts with another signal, or after a time with the reason of `AbortSignal.timeout()`. Unlike `AbortSignal.any()` with such a timeout,
 * which Node 20 forgets at the next garbage collection if nothing else holds it, this one always ends. Dispose of it to stop the timer.
 */
export class TimeLimit {
  readonly signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;

  constructor(signal: AbortSignal, milliseconds: number) {
    const late = new AbortController();
    this.#timer = setTimeout(() => {
      late.abort(new DOMException(`not done within ${milliseconds} ms`, "TimeoutError"));
    }, milliseconds).unref();
    this.signal = AbortSignal.any([signal, late.signal]);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
