// How much context to offer when one is full. Pure.

/** Contexts are offered in steps of this many tokens, as models and people count them. */
const step = 1_024;

/** Twice as much, or as much as fits; null when that is not noticeably more. */
export function largerContext(now: number, most: number): number | null {
  const fits = Math.floor(most / step) * step;
  const larger = Math.min(now * 2, fits);
  return larger >= now * 1.1 ? larger : null;
}
