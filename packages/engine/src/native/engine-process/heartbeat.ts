// Notices that an engine's process hangs: its JavaScript sends nothing, or its engine makes no step although requests are in flight.

/** Ticks per limit: a hanging process is noticed at most an eighth of the limit late. */
const ticksPerBound = 8;
const tickMsMax = 1_000;
/** A process sends something four times a second, whatever it computes: a silent minute is not a long step. */
const silenceMsMax = 60_000;

export class Heartbeat {
  readonly #boundMs: number;
  readonly #tickMs: number;
  readonly #onHung: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** Ticks since the last message, and since the last step. */
  #silent = 0;
  #still = 0;

  constructor(boundMs: number, onHung: () => void) {
    this.#boundMs = boundMs;
    this.#tickMs = Math.min(tickMsMax, boundMs / ticksPerBound);
    this.#onHung = onHung;
  }

  /** Watches while something is in flight. `hasRequests`: the engine has to make steps. */
  watch({ isBusy, hasRequests }: { isBusy: boolean; hasRequests: boolean }): void {
    if (!hasRequests) this.#still = 0;
    if (isBusy === (this.#timer !== undefined)) return;
    clearInterval(this.#timer);
    this.#silent = 0;
    this.#still = 0;
    this.#timer = isBusy ? setInterval(() => this.#tick(), this.#tickMs).unref() : undefined;
  }

  /** The process has sent something. */
  heard(): void {
    this.#silent = 0;
  }

  /** The engine has made a step. */
  stepped(): void {
    this.#still = 0;
  }

  /** Counts ticks instead of reading a clock: while this process is stopped or busy, it cannot receive anything. */
  #tick(): void {
    this.#silent += 1;
    this.#still += 1;
    const isSilent = this.#silent * this.#tickMs > Math.min(this.#boundMs, silenceMsMax);
    if (isSilent || this.#still * this.#tickMs > this.#boundMs) this.#onHung();
  }
}
