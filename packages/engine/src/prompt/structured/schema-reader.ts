// Reads subschemas as sets of values: each keyword restricts the set of those before it. References may be recursive, because
// the values of properties and items are read only when they are written.
import { listedValues } from "./listed-values.ts";
import { hasNoObjects } from "./object-values.ts";
import { type Rules, SchemaError, cannotEnforce, invalidSchema } from "./rules.ts";
import { listKeyword, objectKeyword, resolve, unenforcedKeyword, type Schema } from "./schema-keywords.ts";
import { hasOwnBase, conjunctionKey, never, Parts, type Conjunction, type Part } from "./schema-parts.ts";
import { StringReader } from "./string-values.ts";
import { stepsPerKeyword, TypedKeywords } from "./typed-keywords.ts";
import {
  commonSet,
  eitherSet,
  everything,
  isNothing,
  nothing,
  setWithout,
  type SetContext,
  type ValueSet,
} from "./value-set.ts";

/** Subschemas within `allOf`, `$ref` and so on: reading them recurses. */
const depthMax = 64;
/** Properties within properties that are looked at to find out whether a set has no values. */
const emptinessDepthMax = 3;

export class SchemaReader {
  readonly strings: StringReader;
  readonly parts: Parts;
  readonly context: SetContext;
  readonly #isStrict: boolean;
  readonly #rules: Rules;
  readonly #typed: TypedKeywords;
  readonly #sets = new Map<string, ValueSet>();
  /** The parts that are being read, and the sets of those that were. */
  readonly #read = new Map<Part, ValueSet | "reading">();
  #depth = 0;
  #emptinessDepth = 0;

  constructor(isStrict: boolean, rules: Rules) {
    this.#isStrict = isStrict;
    this.#rules = rules;
    this.strings = new StringReader(rules);
    this.parts = new Parts(rules);
    this.#typed = new TypedKeywords({ isStrict, rules, parts: this.parts, strings: this.strings });
    this.context = {
      parts: this.parts,
      strings: this.strings,
      matches: (name, pattern) => this.strings.matches(name, pattern),
      isEmpty: (value) => this.#isEmpty(value),
      spend: (steps) => {
        rules.spend(steps);
      },
    };
  }

  /** The values of which all parts hold. Throws a SchemaError. */
  set(conjunction: Conjunction): ValueSet {
    if (conjunction === never) return nothing;
    const key = conjunctionKey(conjunction);
    const known = this.#sets.get(key);
    if (known !== undefined) return known;
    this.#rules.spend(conjunction.length);
    const [only] = conjunction;
    if (conjunction.length === 1 && only?.isNegated === false) {
      const set = this.#part(only);
      this.#sets.set(key, set);
      return set;
    }
    let set = everything;
    for (const part of conjunction) {
      if (!part.isNegated) set = this.#common(set, this.#part(part), "allOf");
    }
    for (const part of conjunction) {
      if (part.isNegated)
        set = this.#relaxed(set, () => this.#without(set, this.#positive(part), "not", false));
    }
    this.#sets.set(key, set);
    return set;
  }

  #positive(part: Part): ValueSet {
    return this.#all(this.parts.not(part));
  }

  #all(conjunction: Conjunction): ValueSet {
    return conjunction.reduce((set, part) => this.#common(set, this.#part(part), "allOf"), everything);
  }

  #schema(schema: unknown, base: unknown): ValueSet {
    const conjunction = this.parts.of(schema, base);
    return conjunction === never ? nothing : this.#all(conjunction);
  }

  #part(part: Part): ValueSet {
    const known = this.#read.get(part);
    if (known === "reading") throw new EndlessReference("wrong", "$ref refers to itself without end");
    if (known !== undefined) return known;
    this.#depth += 1;
    if (this.#depth > depthMax) throw invalidSchema("the schema is nested too deeply");
    this.#read.set(part, "reading");
    try {
      const set = this.#keywords(part.schema, part.base);
      this.#read.set(part, set);
      return set;
    } finally {
      this.#depth -= 1;
      if (this.#read.get(part) === "reading") this.#read.delete(part);
    }
  }

  #common(one: ValueSet, other: ValueSet, keyword: string): ValueSet {
    return commonSet(one, other, keyword, this.context);
  }

  #without(one: ValueSet, other: ValueSet, keyword: string, isClosed: boolean): ValueSet {
    return setWithout(one, other, keyword, isClosed, this.context);
  }

  /** Unless strict, a keyword that cannot be enforced leaves the set as it is. */
  #relaxed(set: ValueSet, restrict: () => ValueSet): ValueSet {
    try {
      return restrict();
    } catch (error) {
      if (this.#isStrict || !(error instanceof SchemaError) || error.kind !== "cannot_enforce") throw error;
      return set;
    }
  }

  /** False also if it is not known. Within a recursive schema, what is still being read may have values. */
  #isEmpty(value: Conjunction): boolean {
    if (value === never) return true;
    if (value.length === 0 || this.#emptinessDepth >= emptinessDepthMax) return false;
    this.#emptinessDepth += 1;
    try {
      const set = this.set(value);
      const hasOthers = !isNothing({ ...set, objects: [] });
      return !hasOthers && set.objects.every((each) => hasNoObjects(each, this.context));
    } catch (error) {
      if (error instanceof EndlessReference) return false;
      throw error;
    } finally {
      this.#emptinessDepth -= 1;
    }
  }

  #keywords(schema: Schema, base: unknown): ValueSet {
    this.#rules.spend(stepsPerKeyword * Object.keys(schema).length);
    const unenforced = this.#isStrict ? unenforcedKeyword(schema) : undefined;
    if (unenforced !== undefined) throw cannotEnforce(`${unenforced} cannot be enforced`);
    let set = this.#typed.set(schema, base);
    if (schema["$ref"] !== undefined) {
      const { target, base: its } = resolve(base, schema["$ref"], this.#rules, hasOwnBase);
      set = this.#common(set, this.#schema(target, its), "$ref");
    }
    for (const each of schema["allOf"] === undefined ? [] : listKeyword(schema, "allOf"))
      set = this.#common(set, this.#schema(each, base), "allOf");
    set = this.#enumerated(set, schema, base);
    if (schema["anyOf"] !== undefined) {
      const sets = listKeyword(schema, "anyOf").map((each) => this.#schema(each, base));
      set = this.#relaxed(set, () => this.#common(set, eitherSet(sets), "anyOf"));
    }
    set = this.#dependent(set, schema, base);
    if (schema["oneOf"] !== undefined) set = this.#oneOf(set, listKeyword(schema, "oneOf"), base);
    return this.#negated(set, schema, base);
  }

  #enumerated(set: ValueSet, schema: Schema, base: unknown): ValueSet {
    const lists: (readonly unknown[])[] = [];
    if (schema["const"] !== undefined) lists.push([schema["const"]]);
    if (schema["enum"] !== undefined) lists.push(listKeyword(schema, "enum"));
    let all = set;
    for (const values of lists) {
      this.#rules.spend(values.length);
      const those = listedValues(values, base, this.parts);
      all = this.#common(all, those, "enum");
      // Unless strict, the values count more than what is beside them.
      if (!this.#isStrict && isNothing(all)) all = those;
    }
    return all;
  }

  /** `dependentRequired`, `dependentSchemas`, and their older name. */
  #dependent(set: ValueSet, schema: Schema, base: unknown): ValueSet {
    let all = set;
    for (const keyword of ["dependentRequired", "dependentSchemas", "dependencies"]) {
      for (const [name, needed] of Object.entries(objectKeyword(schema, keyword))) {
        const without = this.#schema({ properties: { [name]: false } }, base);
        const wanted = Array.isArray(needed) ? { required: needed } : needed;
        all = this.#relaxed(all, () => {
          const having = this.#common(
            this.#schema({ required: [name] }, base),
            this.#schema(wanted, base),
            keyword,
          );
          // Values of other types are in both.
          const others = { ...everything, objects: [] };
          return this.#common(
            all,
            eitherSet([others, without, { ...nothing, ...objectPart(having) }]),
            keyword,
          );
        });
      }
    }
    return all;
  }

  /** Values of exactly one of the schemas. */
  #oneOf(set: ValueSet, schemas: readonly unknown[], base: unknown): ValueSet {
    const sets = schemas.map((each) => this.#schema(each, base));
    const either = this.#relaxed(set, () => this.#common(set, eitherSet(sets), "oneOf"));
    return this.#relaxed(either, () =>
      eitherSet(
        sets.map((each, index) =>
          sets.reduce(
            (left, other, at) => (at === index ? left : this.#without(left, other, "oneOf", true)),
            this.#common(set, each, "oneOf"),
          ),
        ),
      ),
    );
  }

  #negated(set: ValueSet, schema: Schema, base: unknown): ValueSet {
    let all = set;
    const { not, if: condition } = schema;
    if (not !== undefined)
      all = this.#relaxed(all, () => this.#without(all, this.#schema(not, base), "not", false));
    if (condition === undefined) return all;
    return this.#relaxed(all, () => {
      const met = this.#schema(condition, base);
      const then = this.#common(met, this.#schema(schema["then"] ?? true, base), "then");
      const otherwise = this.#common(all, this.#schema(schema["else"] ?? true, base), "else");
      const isBoth = schema["then"] === undefined && schema["else"] === undefined;
      if (isBoth) return all;
      return eitherSet([this.#common(all, then, "if"), this.#without(otherwise, met, "if", false)]);
    });
  }
}

/** The subschema that is being read is needed to read it. */
class EndlessReference extends SchemaError {}

function objectPart({ objects, about }: ValueSet): Pick<ValueSet, "objects" | "about"> {
  return { objects, about };
}

export interface ValueWriter {
  readonly rules: Rules;
  readonly reader: SchemaReader;
  /** The name of a rule for the values of which all parts hold; undefined if there are none. */
  rule: (value: Conjunction) => string | undefined;
  /** What `write` returns. Unless strict, `otherwise` replaces what cannot be enforced. */
  relaxed: <Result>(write: () => Result, otherwise: () => Result) => Result;
}
