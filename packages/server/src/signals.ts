// What code waits for with a signal: a promise, the next change of something, or a limited time.
import { EventEmitter, once } from "node:events";

/** Settles as the promise does, or rejects with the signal's reason if that comes first. */
export async function orAborted<T>(pending: Promise<T>, signal: AbortSignal): Promise<T> {
  const settled = new AbortController();
  try {
    return await Promise.race([pending, aborted(signal, settled.signal)]);
  } finally {
    settled.abort(); // removes the listener
  }
}

async function aborted(signal: AbortSignal, giveUp: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, "abort", { signal: giveUp });
  signal.throwIfAborted();
  throw new Error("unreachable: the signal has fired and is not aborted");
}

/** Lets code wait for the next change of something. */
export class ChangeSignal {
  readonly #events = new EventEmitter();
  #count = 0;

  constructor() {
    this.#events.setMaxListeners(0); // one for each request that waits
  }

  /** Grows with every change. A reader that remembers the count does not miss a change while it is busy. */
  get count(): number {
    return this.#count;
  }

  /** Resolves all pending calls of `next()`. */
  note(): void {
    this.#count += 1;
    this.#events.emit("change");
  }

  /** Resolves at the next change. Rejects with the signal's reason. */
  async next(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    try {
      await once(this.#events, "change", { signal });
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  }
}

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
