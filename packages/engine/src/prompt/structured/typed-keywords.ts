// The keywords that restrict the values of one type: `type` itself, and those of numbers, strings, arrays and objects.
import { anyArrays, commonArrays, type ArrayValues } from "./array-values.ts";
import { anyIntegers, anyNumbers, commonNumbers } from "./number-values.ts";
import { anyObjects, type Layer, type ObjectValues } from "./object-values.ts";
import { cannotEnforce, type Rules, SchemaError, invalidSchema } from "./rules.ts";
import {
  allowedTypes,
  countKeyword,
  countRange,
  listKeyword,
  objectKeyword,
  numberKeywords,
  stringKeywords,
  typesAbout,
  type Schema,
} from "./schema-keywords.ts";
import type { Parts } from "./schema-parts.ts";
import { anyStrings, type StringReader, type StringValues } from "./string-values.ts";
import { everything, nothing, type ValueSet } from "./value-set.ts";

/** A merged keyword is looked up, stored and written again. */
export const stepsPerKeyword = 4;

interface Reading {
  readonly isStrict: boolean;
  readonly rules: Rules;
  readonly parts: Parts;
  readonly strings: StringReader;
}

export class TypedKeywords {
  readonly #isStrict: boolean;
  readonly #rules: Rules;
  readonly #parts: Parts;
  readonly #patterns: StringReader;

  constructor({ isStrict, rules, parts, strings }: Reading) {
    this.#isStrict = isStrict;
    this.#rules = rules;
    this.#parts = parts;
    this.#patterns = strings;
  }

  /** By `type` and the keywords for one type. */
  set(schema: Schema, base: unknown): ValueSet {
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
    const [min, max] = countRange(schema, "Items");
    const { items } = schema;
    const isOld = Array.isArray(items);
    const first: readonly unknown[] = isOld
      ? items
      : schema["prefixItems"] === undefined
        ? []
        : listKeyword(schema, "prefixItems");
    const rest = isOld ? schema["additionalItems"] : items;
    this.#rules.spend(first.length);
    const set: ArrayValues = {
      prefix: first.map((item) => this.#parts.of(item, base)),
      rest: this.#parts.of(rest ?? true, base),
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
    const [min, max] = [countKeyword(schema, "minContains") ?? 1, countKeyword(schema, "maxContains")];
    if (min === 0 && max === undefined) return [];
    return [{ item: this.#parts.of(schema["contains"], base), min, max }];
  }

  #objects(schema: Schema, base: unknown): ObjectValues {
    const [min, max] = countRange(schema, "Properties");
    const required = schema["required"] ?? [];
    // In draft 3, `true` makes the property required that has it.
    if (!Array.isArray(required) && typeof required !== "boolean")
      throw invalidSchema("required must be an array");
    const names = typeof required === "boolean" ? [] : required.filter((name) => typeof name === "string");
    const layer = this.#layer(schema, base);
    this.#rules.spend(names.length);
    const set: ObjectValues = {
      layers: layer === undefined ? [] : [layer],
      required: [...new Set(names)],
      min,
      max,
      names: this.#parts.of(schema["propertyNames"] ?? true, base),
    };
    const isAny = layer === undefined && names.length + min + set.names.length === 0 && max === undefined;
    return isAny ? anyObjects : set;
  }

  #layer(schema: Schema, base: unknown): Layer | undefined {
    const properties = Object.entries(objectKeyword(schema, "properties"));
    const patterns = Object.entries(objectKeyword(schema, "patternProperties"));
    const additional = this.#parts.of(schema["additionalProperties"] ?? true, base);
    if (properties.length + patterns.length + additional.length === 0) return undefined;
    this.#rules.spend(stepsPerKeyword * (properties.length + patterns.length));
    return {
      properties: new Map(properties.map(([name, value]) => [name, this.#parts.of(value, base)])),
      patterns: patterns
        .filter(([pattern]) => this.#isReadable(pattern, "patternProperties"))
        .map(([pattern, value]) => [pattern, this.#parts.of(value, base)]),
      additional,
    };
  }

  /** Throws a SchemaError for an invalid pattern, and unless strict, returns false for one that cannot be enforced. */
  #isReadable(pattern: string, keyword: "pattern" | "patternProperties"): boolean {
    try {
      this.#patterns.pattern(pattern);
      return true;
    } catch (error) {
      if (!(error instanceof SchemaError) || error.kind !== "cannot_enforce") throw error;
      if (!this.#isStrict) return false;
      throw keyword === "pattern" ? error : cannotEnforce(`${keyword} cannot be enforced: ${error.message}`);
    }
  }
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
