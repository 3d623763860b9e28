// How deeply a JSON value is nested, found without recursion: it may come from a stranger. Used by tools.ts.

/** 0 for a simple value, 1 for an object or array of simple values, and so on. */
export function depthOf(value: unknown): number {
  let level: unknown[] = [value];
  for (let depth = 0; ; depth++) {
    const below = level.flatMap((each) =>
      typeof each === "object" && each !== null ? Object.values(each) : [],
    );
    const isFlat = level.every((each) => typeof each !== "object" || each === null);
    if (isFlat) return depth;
    level = below;
  }
}
