// The recent speed of a transfer.

/** Maximum time over which a rate is averaged. */
const windowMs = 5_000;
/** Minimum time between two samples. */
const sampleMs = 250;

interface Sample {
  atMs: number;
  bytes: number;
}

export class TransferRate {
  #samples: Sample[] = [];

  /** `bytes`: all so far. `atMs`: on a monotonic clock. */
  note(bytes: number, atMs: number): void {
    const last = this.#samples.at(-1);
    if (last !== undefined && atMs - last.atMs < sampleMs) return;
    this.#samples.push({ atMs, bytes });
    this.#forget(atMs);
  }

  reset(): void {
    this.#samples = [];
  }

  /** Bytes per second over the last seconds, pauses included; null while it is too early to tell. */
  perSecond(bytes: number, nowMs: number): number | null {
    this.#forget(nowMs);
    const first = this.#samples[0];
    if (first === undefined || nowMs - first.atMs < sampleMs) return null;
    return Math.max(0, ((bytes - first.bytes) * 1000) / (nowMs - first.atMs));
  }

  /** Keeps one older sample: without it, a stalled transfer would have no rate. */
  #forget(nowMs: number): void {
    while (this.#samples.length > 1 && nowMs - (this.#samples[1]?.atMs ?? nowMs) > windowMs)
      this.#samples.shift();
  }
}
