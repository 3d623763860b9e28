// What an import leaves out: parts that an export has or names and Ingle does not take over. They are counted and told.

/** Keys of `importText.leftOut`, in the order in which they are told. */
export const leftOutKinds = ["images", "audio", "files", "tools", "others"] as const;
export type LeftOut = (typeof leftOutKinds)[number];

export type LeftOutCounts = Readonly<Partial<Record<LeftOut, number>>>;

export class LeftOutCounter {
  readonly #counts: Partial<Record<LeftOut, number>> = {};

  /** How many there were of each kind that there was. */
  get counts(): LeftOutCounts {
    return this.#counts;
  }

  add(kind: LeftOut, count = 1): void {
    if (count > 0) this.#counts[kind] = (this.#counts[kind] ?? 0) + count;
  }

  addAll(counts: LeftOutCounts): void {
    for (const kind of leftOutKinds) this.add(kind, counts[kind] ?? 0);
  }
}
