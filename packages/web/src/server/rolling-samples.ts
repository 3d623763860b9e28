// A rolling window of samples, and the lines and axes of a chart. Pure.

interface Sample<Values> {
  /** Milliseconds of a monotonic clock. */
  at: number;
  values: Values;
}

/** Limits memory; the server sends about two samples per second. */
const samplesMax = 1200;

/**
 * Samples of the last `windowMs`, the oldest first. Invariant: times increase, and only the first sample may be older than the
 * window, so that a line can begin at its edge.
 */
export class RollingSamples<Values> {
  readonly windowMs: number;
  #samples: readonly Sample<Values>[] = [];

  constructor(windowMs: number) {
    this.windowMs = windowMs;
  }

  get samples(): readonly Sample<Values>[] {
    return this.#samples;
  }

  get last(): Sample<Values> | undefined {
    return this.#samples.at(-1);
  }

  /** Adds a sample. It replaces the last one unless it is newer. */
  add(at: number, values: Values): void {
    const last = this.last;
    const earlier = last !== undefined && at <= last.at ? this.#samples.slice(0, -1) : this.#samples;
    const all = [...earlier, { at, values }];
    const start = at - this.windowMs;
    const firstInside = all.findIndex((sample) => sample.at >= start);
    this.#samples = all.slice(Math.max(0, firstInside - 1, all.length - samplesMax));
  }

  clear(): void {
    this.#samples = [];
  }
}

interface ChartBox {
  width: number;
  height: number;
}

/** Over a longer gap, the value is drawn as constant: the server reports every change at once. */
const slopeMsMax = 1500;

/**
 * A line as the `points` of an SVG polyline, in a box whose right edge is `now` and whose top is `max`. The last value extends to
 * the right edge.
 */
export function linePoints<Values>(
  samples: readonly Sample<Values>[],
  readValue: (values: Values) => number,
  { now, windowMs, max, box }: { now: number; windowMs: number; max: number; box: ChartBox },
): string {
  const point = (at: number, value: number): string => {
    const x = box.width * Math.max(0, 1 - (now - at) / windowMs);
    const y = box.height * (1 - Math.min(1, max <= 0 ? 0 : value / max));
    return `${round(x)},${round(y)}`;
  };
  const points: string[] = [];
  let before: Sample<Values> | undefined;
  for (const sample of samples) {
    if (before !== undefined && sample.at - before.at > slopeMsMax)
      points.push(point(sample.at, readValue(before.values)));
    points.push(point(sample.at, readValue(sample.values)));
    before = sample;
  }
  if (before !== undefined) points.push(point(now, readValue(before.values)));
  return points.join(" ");
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The top of an axis: the smallest of 1, 2, 5, 10, 20, 50 … that is at least `min` and every value. */
export function axisTop(values: readonly number[], min: number): number {
  const highest = Math.max(min, ...values);
  const power = 10 ** Math.floor(Math.log10(highest));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= highest - 1e-9) ?? 10;
  return step * power;
}
