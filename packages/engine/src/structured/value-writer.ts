// What writes the values of properties and items, each in a rule of its own.
import type { Rules } from "./rules.ts";
import type { Conjunction } from "./schema-parts.ts";
import type { SchemaReader } from "./schema-reader.ts";

export interface ValueWriter {
  readonly rules: Rules;
  readonly reader: SchemaReader;
  /** The name of a rule for the values of which all parts hold; undefined if there are none. */
  rule: (value: Conjunction) => string | undefined;
  /** What `write` returns. Unless strict, `otherwise` replaces what cannot be enforced. */
  relaxed: <Result>(write: () => Result, otherwise: () => Result) => Result;
}
