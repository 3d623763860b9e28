// Bounds the requests in flight on one model, running or waiting. The engine schedules them; this only counts. Requests in the background
// share half of the places, so that the others find some.
import { WireError } from "../wire-error.ts";

/** Seconds until a refused client should try again: about one short completion. */
const retryAfterSeconds = 2;

/** Admission of a request; disposing it frees its places. */
export type Permit = Disposable;

export class Admission {
  #placesMax: number;
  readonly #taken = { foreground: 0, background: 0 };

  /** @param placesMax requests that may be in flight */
  constructor(placesMax: number) {
    this.#placesMax = placesMax;
  }

  /** Places taken now. */
  get taken(): number {
    return this.#taken.foreground + this.#taken.background;
  }

  /** Changes the number of places. Admitted requests keep theirs. */
  resize(placesMax: number): void {
    this.#placesMax = placesMax;
  }

  /** A single one in the background may take all, so that it does not wait forever. */
  get #leftInBackground(): number {
    const left = this.#placesMax - this.taken;
    const { background } = this.#taken;
    return background === 0 ? left : Math.min(left, Math.floor(this.#placesMax / 2) - background);
  }

  /** Takes one or more places. Throws `overloaded` if there are too few, or the signal's reason. */
  enter(options: { signal?: AbortSignal | undefined; places?: number; isBackground?: boolean } = {}): Permit {
    const { signal, places = 1, isBackground = false } = options;
    const kind = isBackground ? "background" : "foreground";
    signal?.throwIfAborted();
    const left = Math.max(0, isBackground ? this.#leftInBackground : this.#placesMax - this.taken);
    if (places > left) {
      const reason = `${left} of ${this.#placesMax} places are left, and this needs ${places}`;
      throw new WireError("overloaded", `${reason}; try again shortly.`, {
        retryAfterSeconds,
      });
    }
    this.#taken[kind] += places;
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#taken[kind] -= places;
        isHeld = false;
      },
    };
  }
}
