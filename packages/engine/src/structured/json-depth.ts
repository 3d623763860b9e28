// The nesting depth of a JSON value, found without recursion because the value may come from an untrusted client.

/** 0 for a simple value, 1 for an object or array of simple values, and so on. */
export function depthOf(value: unknown): number {
  let level = isContainer(value) ? [value] : [];
  for (let depth = 0; ; depth++) {
    if (level.length === 0) return depth;
    const below: object[] = [];
    for (const container of level) {
      const values: unknown[] = Array.isArray(container) ? container : Object.values(container);
      for (const each of values) if (isContainer(each)) below.push(each);
    }
    level = below;
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
