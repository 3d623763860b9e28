// How fast bytes have come of late. Held by kept-job.ts.

/** Rates are of so long at most. */
const windowMs = 5_000;
/** Bytes are written down no more often. */
const sampleMs = 250;

interface Sample {
  atMs: number;
  bytes: number;
}

export class TransferRate {
  #samples: Sample[] = [];

  /** `bytes` are all that have come so far; times are on a clock that never goes back. */
  note(bytes: number, atMs: number): void {
    const last = this.#samples.at(-1);
    if (last !== undefined && atMs - last.atMs < sampleMs) return;
    this.#samples.push({ atMs, bytes });
    this.#forget(atMs);
  }

  reset(): void {
    this.#samples = [];
  }

  /** Of the last seconds, silence included. Null while it is too early to say. */
  perSecond(bytes: number, nowMs: number): number | null {
    this.#forget(nowMs);
    const first = this.#samples[0];
    if (first === undefined || nowMs - first.atMs < sampleMs) return null;
    return Math.max(0, ((bytes - first.bytes) * 1000) / (nowMs - first.atMs));
  }

  /** Keeps one that is older: without it a line that is still says nothing at all. */
  #forget(nowMs: number): void {
    while (this.#samples.length > 1 && nowMs - (this.#samples[1]?.atMs ?? nowMs) > windowMs)
      this.#samples.shift();
  }
}
