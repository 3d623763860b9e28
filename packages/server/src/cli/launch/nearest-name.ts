// Finds what a mistyped name was meant to be.

/** The candidate that the fewest changes of single letters lead to; undefined if all are too different. */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    .map((candidate) => ({ candidate, changes: changesBetween(name.toLowerCase(), candidate) }))
    .toSorted((a, b) => a.changes - b.changes);
  const [first] = ranked;
  if (first === undefined) return undefined;
  return first.changes <= Math.max(1, Math.floor(first.candidate.length / 2)) ? first.candidate : undefined;
}

/** The edit distance: letters to insert, delete or replace. */
function changesBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let index = 0; index < from.length; index += 1) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (to[column - 1] === from[index] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
