// Statistics of lists of numbers.

/** The middle value; the mean of the two middle ones for an even count. NaN for an empty list. */
export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/**
 * The value below which `percent` (0 to 100) of the list lies, interpolated between neighbours. NaN for an empty list.
 */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = ((sorted.length - 1) * percent) / 100;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The largest value, 0 for an empty list. */
export function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}
