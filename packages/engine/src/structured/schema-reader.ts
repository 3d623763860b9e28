// Reads subschemas as sets of values: each keyword restricts the set of those before it. References may be recursive, because
// the values of properties and items are read only when they are written.
import { anyArrays, commonArrays, type ArrayValues } from "./array-values.ts";
import { listedValues } from "./listed-values.ts";
import { anyIntegers, anyNumbers, commonNumbers } from "./number-values.ts";
import { anyObjects, hasNoObjects, type Layer, type ObjectValues } from "./object-values.ts";
import { type Rules, SchemaError } from "./rules.ts";
import { cannotEnforce, wrong } from "./schema-errors.ts";
import {
  allowedTypes,
  countOf,
  countsOf,
  listOf,
  namedOf,
  numberKeywords,
  resolve,
  stringKeywords,
  typesAbout,
  unenforcedKeyword,
  type Schema,
} from "./schema-keywords.ts";
import { hasOwnBase, keyOf, never, Parts, type Conjunction, type Part } from "./schema-parts.ts";
import { anyStrings, StringReader, type StringValues } from "./string-values.ts";
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
/** A merged keyword is looked up, stored and written again. */
const stepsPerKeyword = 4;

export class SchemaReader {
  readonly strings: StringReader;
  readonly parts: Parts;
  readonly context: SetContext;
  readonly #isStrict: boolean;
  readonly #rules: Rules;
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
    const key = keyOf(conjunction);
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
    if (this.#depth > depthMax) throw wrong("the schema is nested too deeply");
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
    let set = this.#typed(schema, base);
    if (schema["$ref"] !== undefined) {
      const { target, base: its } = resolve(base, schema["$ref"], this.#rules, hasOwnBase);
      set = this.#common(set, this.#schema(target, its), "$ref");
    }
    for (const each of schema["allOf"] === undefined ? [] : listOf(schema, "allOf"))
      set = this.#common(set, this.#schema(each, base), "allOf");
    set = this.#enumerated(set, schema, base);
    if (schema["anyOf"] !== undefined) {
      const sets = listOf(schema, "anyOf").map((each) => this.#schema(each, base));
      set = this.#relaxed(set, () => this.#common(set, eitherSet(sets), "anyOf"));
    }
    set = this.#dependent(set, schema, base);
    if (schema["oneOf"] !== undefined) set = this.#oneOf(set, listOf(schema, "oneOf"), base);
    return this.#negated(set, schema, base);
  }

  /** By `type` and the keywords for one type. */
  #typed(schema: Schema, base: unknown): ValueSet {
    const types = allowedTypes(schema);
    const about = typesAbout(schema);
    if (about.size === 0) {
      if (types === undefined) return everything;
      const [only = ""] = types;
      const known = types.size === 1 ? ofType.get(only) : undefined;
      if (known !== undefined) return known;
    }
    const has = (type: string): boolean => types?.has(type) ?? true;
    const numbers = has("number") ? anyNumbers : has("integer") ? anyIntegers : undefined;
    const bounds = about.has("number") ? numberKeywords(schema, this.#isStrict) : anyNumbers;
    const strings = about.has("string") ? this.#strings(schema) : anyStrings;
    const arrays = about.has("array") ? this.#arrays(schema, base) : anyArrays;
    const objects = about.has("object") ? this.#objects(schema, base) : anyObjects;
    return {
      hasNull: has("null"),
      booleans: has("boolean") ? [true, false] : [],
      numbers: present(numbers === undefined ? undefined : commonNumbers(numbers, bounds)),
      strings: has("string") ? [strings] : [],
      arrays: present(has("array") ? commonArrays(anyArrays, arrays) : undefined),
      objects: has("object") ? [objects] : [],
      about: types === undefined ? about : new Set([...types].map(numberType)),
    };
  }

  #strings(schema: Schema): StringValues {
    return stringKeywords(schema, this.#isStrict, (pattern) => this.#isReadable(pattern, "pattern"));
  }

  #arrays(schema: Schema, base: unknown): ArrayValues {
    const [min, max] = countsOf(schema, "Items");
    const { items } = schema;
    const isOld = Array.isArray(items);
    const first: readonly unknown[] = isOld
      ? items
      : schema["prefixItems"] === undefined
        ? []
        : listOf(schema, "prefixItems");
    const rest = isOld ? schema["additionalItems"] : items;
    this.#rules.spend(first.length);
    const set: ArrayValues = {
      prefix: first.map((item) => this.parts.of(item, base)),
      rest: this.parts.of(rest ?? true, base),
      isRestGiven: rest !== undefined,
      min,
      max,
      contains: this.#contains(schema, base),
      isUnique: schema["uniqueItems"] === true && this.#isStrict,
    };
    const isAny =
      first.length === 0 && rest === undefined && min === 0 && max === undefined && set.contains.length === 0;
    return isAny && !set.isUnique ? anyArrays : set;
  }

  #contains(schema: Schema, base: unknown): ArrayValues["contains"] {
    if (schema["contains"] === undefined) return [];
    const [min, max] = [countOf(schema, "minContains") ?? 1, countOf(schema, "maxContains")];
    if (min === 0 && max === undefined) return [];
    return [{ item: this.parts.of(schema["contains"], base), min, max }];
  }

  #objects(schema: Schema, base: unknown): ObjectValues {
    const [min, max] = countsOf(schema, "Properties");
    const required = schema["required"] ?? [];
    // In draft 3, `true` makes the property required that has it.
    if (!Array.isArray(required) && typeof required !== "boolean") throw wrong("required must be an array");
    const names = typeof required === "boolean" ? [] : required.filter((name) => typeof name === "string");
    const layer = this.#layer(schema, base);
    this.#rules.spend(names.length);
    const set: ObjectValues = {
      layers: layer === undefined ? [] : [layer],
      required: [...new Set(names)],
      min,
      max,
      names: this.parts.of(schema["propertyNames"] ?? true, base),
    };
    const isAny = layer === undefined && names.length + min + set.names.length === 0 && max === undefined;
    return isAny ? anyObjects : set;
  }

  #layer(schema: Schema, base: unknown): Layer | undefined {
    const properties = Object.entries(namedOf(schema, "properties"));
    const patterns = Object.entries(namedOf(schema, "patternProperties"));
    const additional = this.parts.of(schema["additionalProperties"] ?? true, base);
    if (properties.length + patterns.length + additional.length === 0) return undefined;
    this.#rules.spend(stepsPerKeyword * (properties.length + patterns.length));
    return {
      properties: new Map(properties.map(([name, value]) => [name, this.parts.of(value, base)])),
      patterns: patterns
        .filter(([pattern]) => this.#isReadable(pattern, "patternProperties"))
        .map(([pattern, value]) => [pattern, this.parts.of(value, base)]),
      additional,
    };
  }

  /** Throws a SchemaError for an invalid pattern, and unless strict, returns false for one that cannot be enforced. */
  #isReadable(pattern: string, keyword: "pattern" | "patternProperties"): boolean {
    try {
      this.strings.pattern(pattern);
      return true;
    } catch (error) {
      if (!(error instanceof SchemaError) || error.kind !== "cannot_enforce") throw error;
      if (!this.#isStrict) return false;
      throw keyword === "pattern" ? error : cannotEnforce(`${keyword} cannot be enforced: ${error.message}`);
    }
  }

  #enumerated(set: ValueSet, schema: Schema, base: unknown): ValueSet {
    const lists: (readonly unknown[])[] = [];
    if (schema["const"] !== undefined) lists.push([schema["const"]]);
    if (schema["enum"] !== undefined) lists.push(listOf(schema, "enum"));
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
      for (const [name, needed] of Object.entries(namedOf(schema, keyword))) {
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
            eitherSet([others, without, { ...nothing, ...objectsOf(having) }]),
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

function objectsOf({ objects, about }: ValueSet): Pick<ValueSet, "objects" | "about"> {
  return { objects, about };
}

/** The values of each type. */
const ofType: ReadonlyMap<string, ValueSet> = new Map(
  Object.entries({
    null: { hasNull: true },
    boolean: { booleans: [true, false] },
    integer: { numbers: [anyIntegers] },
    number: { numbers: [anyNumbers] },
    string: { strings: [anyStrings] },
    array: { arrays: [anyArrays] },
    object: { objects: [anyObjects] },
  }).map(([type, values]) => [type, { ...nothing, ...values, about: new Set([numberType(type)]) }]),
);

function numberType(type: string): string {
  return type === "integer" ? "number" : type;
}

function present<Values>(values: Values | undefined): Values[] {
  return values === undefined ? [] : [values];
}
