// The values of `enum` and `const` as sets. Arrays and objects are written item by item, so that other keywords restrict them too.
import { anyArrays, type ArrayValues } from "./array-values.ts";
import { anyNumbers } from "./number-values.ts";
import { anyObjects, type ObjectValues } from "./object-values.ts";
import { isObject, type Schema } from "./schema-keywords.ts";
import { never, type Parts } from "./schema-parts.ts";
import { anyStrings } from "./string-values.ts";
import type { ValueSet } from "./value-set.ts";

export function listedValues(values: readonly unknown[], base: unknown, parts: Parts): ValueSet {
  const strings = [...new Set(values.filter((value) => typeof value === "string"))];
  const numbers = [...new Set(values.filter((value) => typeof value === "number"))];
  return {
    hasNull: values.includes(null),
    booleans: [true, false].filter((value) => values.includes(value)),
    numbers: numbers.length === 0 ? [] : [{ ...anyNumbers, values: numbers }],
    strings: strings.length === 0 ? [] : [{ ...anyStrings, values: strings }],
    arrays: values.filter((value) => Array.isArray(value)).map((items) => exactArray(items, base, parts)),
    objects: values.filter(isObject).map((members) => exactObject(members, base, parts)),
    about: new Set(values.map(jsonType)),
  };
}

function exactArray(items: readonly unknown[], base: unknown, parts: Parts): ArrayValues {
  const prefix = items.map((value) => parts.of({ const: value }, base));
  return { ...anyArrays, prefix, rest: never, isRestGiven: true, min: items.length, max: items.length };
}

function exactObject(members: Schema, base: unknown, parts: Parts): ObjectValues {
  const properties = new Map(
    Object.entries(members).map(([name, value]) => [name, parts.of({ const: value }, base)]),
  );
  return {
    ...anyObjects,
    layers: [{ properties, patterns: [], additional: never }],
    required: [...properties.keys()],
  };
}

function jsonType(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
