// Finds out whether a schema has values at all: one that needs itself without end has none.
import type { ArrayValues } from "./array-values.ts";
import { propertyValue, type ObjectValues } from "./object-values.ts";
import { allOf, conjunctionKey, never, type Conjunction } from "./schema-parts.ts";
import type { SchemaReader } from "./schema-reader.ts";
import { aboutOnly } from "./value-set.ts";

/** Required properties within required properties: looking at them recurses. Deeper ones count as possible. */
const depthMax = 64;

export class Inhabitants {
  readonly #reader: SchemaReader;
  readonly #known = new Map<string, boolean>();
  /** A value that needs one of these is not the smallest. */
  readonly #open = new Set<string>();

  constructor(reader: SchemaReader) {
    this.#reader = reader;
  }

  /** Whether there may be a value of which all parts hold. What other keywords rule out, is found where it is written. */
  has(value: Conjunction): boolean {
    if (value === never) return false;
    const key = conjunctionKey(value);
    const known = this.#known.get(key);
    if (known !== undefined || this.#open.has(key)) return known ?? false;
    if (value.length === 0 || this.#open.size >= depthMax) return true;
    this.#open.add(key);
    const set = aboutOnly(this.#reader.set(value));
    const isInhabited =
      set.hasNull ||
      set.booleans.length + set.numbers.length + set.strings.length > 0 ||
      set.arrays.some((each) => this.#hasArray(each)) ||
      set.objects.some((each) => this.#hasObject(each));
    this.#open.delete(key);
    // What is not inhabited within others may be so alone.
    if (isInhabited || this.#open.size === 0) this.#known.set(key, isInhabited);
    return isInhabited;
  }

  #hasArray(set: ArrayValues): boolean {
    const first = set.prefix.slice(0, set.min).every((item) => this.has(item));
    const rest = set.min <= set.prefix.length || this.has(set.rest);
    return (
      first &&
      rest &&
      set.contains.every(
        ({ item, min }) => min === 0 || set.prefix.length > 0 || this.has(allOf(set.rest, item)),
      )
    );
  }

  #hasObject(set: ObjectValues): boolean {
    return set.required.every((name) => this.has(propertyValue(set, name, this.#reader.context)));
  }
}
