// The last minutes of some figures, as the live charts draw them. Pure: times are handed in.

export interface Sample<Values> {
  /** Milliseconds of any clock that only rises. */
  at: number;
  values: Values;
}

/** Most samples that are kept whatever the window is: no server sends more than two a second. */
const samplesMax = 1200;

/**
 * Samples of the last `windowMs`, the oldest first. Invariant: times rise, and the first sample is the only one that may lie
 * before the window, so that a line can begin at its edge.
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

  /** Adds a sample; one that is not newer than the last takes its place. */
  add(at: number, values: Values): void {
    const last = this.last;
    const earlier = last !== undefined && at <= last.at ? this.#samples.slice(0, -1) : this.#samples;
    const all = [...earlier, { at, values }];
    const start = at - this.windowMs;
    const firstInside = all.findIndex((sample) => sample.at >= start);
    this.#samples = all.slice(Math.max(0, firstInside - 1, all.length - samplesMax));
  }

  /** Forgets everything: after a break in the connection a line would draw what nobody has seen. */
  clear(): void {
    this.#samples = [];
  }
}

export interface ChartBox {
  width: number;
  height: number;
}

/** A longer silence is no slope: the server tells of every change at once. */
const slopeMsMax = 1500;

/**
 * The points of a line in a box whose right edge is `now` and whose top is `max`, as SVG's `points` wants them. A value
 * holds until the next one.
 */
export function linePoints<Values>(
  samples: readonly Sample<Values>[],
  valueOf: (values: Values) => number,
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
      points.push(point(sample.at, valueOf(before.values)));
    points.push(point(sample.at, valueOf(sample.values)));
    before = sample;
  }
  if (before !== undefined) points.push(point(now, valueOf(before.values)));
  return points.join(" ");
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The top of an axis: the next of 1, 2, 5, 10, 20, 50 … that no value exceeds, at least `min`. */
export function axisTop(values: readonly number[], min: number): number {
  const highest = Math.max(min, ...values);
  const power = 10 ** Math.floor(Math.log10(highest));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= highest - 1e-9) ?? 10;
  return step * power;
}
