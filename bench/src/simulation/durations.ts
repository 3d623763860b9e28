// Millions of durations in little memory: a histogram whose buckets each are two percent wider than the one before.

const width = 1.02;
const logWidth = Math.log(width);
/** Shorter durations count as 0. */
const shortestMs = 0.1;
const classesMax = 1_200;

export class Durations {
  readonly #counts = new Float64Array(classesMax);
  #count = 0;
  #sum = 0;

  add(ms: number): void {
    const place = ms <= shortestMs ? 0 : Math.ceil(Math.log(ms / shortestMs) / logWidth);
    const within = Math.min(place, classesMax - 1);
    this.#counts[within] = (this.#counts[within] ?? 0) + 1;
    this.#count += 1;
    this.#sum += ms;
  }

  get count(): number {
    return this.#count;
  }

  /** Milliseconds; NaN if there are none. */
  mean(): number {
    return this.#sum / this.#count;
  }

  /** The percentile in milliseconds, accurate to two percent; 0 below a tenth of a millisecond. */
  percentile(percent: number): number {
    if (this.#count === 0) return Number.NaN;
    let left = (percent / 100) * this.#count;
    for (const [place, count] of this.#counts.entries()) {
      left -= count;
      if (left <= 0 && count > 0) return place === 0 ? 0 : shortestMs * width ** place;
    }
    return Infinity;
  }
}
