// Lets code wait for the next change of something.
import { EventEmitter, once } from "node:events";

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
