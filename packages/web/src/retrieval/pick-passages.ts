// Picks the passages that belong to a question by their scores. Pure, apart from the counting that it is given.
import { mergeRanges, type TextRange } from "./split-text.ts";

/** A passage of the document with this index. */
export interface Candidate extends TextRange {
  document: number;
}

/** The indexes of those with any score, the best sum of scores first. A missing score is 0. */
export function rankByScores(scores: readonly (readonly number[])[]): number[] {
  const count = Math.max(0, ...scores.map(({ length }) => length));
  const sums = Array.from({ length: count }, (_nothing, at) =>
    scores.reduce((sum, each) => sum + (each[at] ?? 0), 0),
  );
  const found = [...sums.keys()].filter((at) => (sums[at] ?? 0) > 0);
  return found.toSorted((a, b) => (sums[b] ?? 0) - (sums[a] ?? 0));
}

interface PickOptions {
  /** The best first. */
  ranked: readonly Candidate[];
  /** The tokens of a passage. */
  count: (candidate: Candidate) => Promise<number>;
  /** How many tokens all may have; the first is picked even if it has more. */
  budget: number;
}

/** The best that fit, in the order of the documents; those that overlap as one. */
export async function pickPassages({ ranked, count, budget }: PickOptions): Promise<Candidate[]> {
  const picked: Candidate[] = [];
  let tokens = 0;
  for (const candidate of ranked) {
    tokens += await count(candidate);
    if (picked.length > 0 && tokens > budget) break;
    picked.push(candidate);
  }
  const documents = [...new Set(picked.map(({ document }) => document))].toSorted((a, b) => a - b);
  return documents.flatMap((document) =>
    mergeRanges(picked.filter((each) => each.document === document)).map((range) => ({ ...range, document })),
  );
}
