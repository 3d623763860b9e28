// The bounded line before a model: how many requests may be in the house at once, running or waiting.
// The engine orders them; this only keeps their number within what was promised. Held by models/registry.ts.
import { WireError } from "../wire-error.ts";

/** Seconds a client is asked to wait when the line is full: about one short reply. */
const retryAfterSeconds = 2;

/** A place in the house; give it back by disposing it. */
export type Permit = Disposable;

export class Admission {
  #placesMax: number;
  #taken = 0;

  /** @param placesMax requests that may run and wait together */
  constructor(placesMax: number) {
    this.#placesMax = placesMax;
  }

  /** Places that are taken now. */
  get taken(): number {
    return this.#taken;
  }

  /** Changes the number of places; who has one keeps it. */
  resize(placesMax: number): void {
    this.#placesMax = placesMax;
  }

  /** Takes one place or several at once. Throws `overloaded` when there are none, or the signal's reason. */
  enter(options: { signal?: AbortSignal | undefined; places?: number } = {}): Permit {
    const { signal, places = 1 } = options;
    signal?.throwIfAborted();
    if (this.#taken + places > this.#placesMax) {
      const left = Math.max(0, this.#placesMax - this.#taken);
      const reason = `${left} of ${this.#placesMax} places are left, and this needs ${places}`;
      throw new WireError("overloaded", `${reason}; try again shortly.`, {
        retryAfterSeconds,
      });
    }
    this.#taken += places;
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#taken -= places;
        isHeld = false;
      },
    };
  }
}
