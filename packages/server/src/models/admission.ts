// Bounds the requests in flight on one model, running or waiting. The engine schedules them; this only counts.
import { WireError } from "../wire-error.ts";

/** Seconds until a refused client should try again: about one short completion. */
const retryAfterSeconds = 2;

/** Admission of a request; disposing it frees its places. */
export type Permit = Disposable;

export class Admission {
  #placesMax: number;
  #taken = 0;

  /** @param placesMax requests that may be in flight */
  constructor(placesMax: number) {
    this.#placesMax = placesMax;
  }

  /** Places taken now. */
  get taken(): number {
    return this.#taken;
  }

  /** Changes the number of places. Admitted requests keep theirs. */
  resize(placesMax: number): void {
    this.#placesMax = placesMax;
  }

  /** Takes one or more places. Throws `overloaded` if there are too few, or the signal's reason. */
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
