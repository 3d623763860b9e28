// Reads, checks and merges the keywords of a JSON schema, and measures how deep it is nested.
import type { Bound } from "./number-range.ts";
import { type Rules, SchemaError } from "./rules.ts";

export type Schema = Readonly<Record<string, unknown>>;

/** The largest value of `minItems`, `maxLength` and so on. */
const countMax = 1_000_000_000;

/** Keywords that restrict a value and that a grammar cannot enforce. */
const unenforced = new Set([
  "$dynamicRef",
  "$recursiveRef",
  "contains",
  "dependencies",
  "dependentRequired",
  "dependentSchemas",
  "else",
  "if",
  "maxContains",
  "minContains",
  "multipleOf",
  "not",
  "patternProperties",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
  "uniqueItems",
]);

const typeByKeyword: readonly [type: string, keywords: readonly string[]][] = [
  ["object", ["properties", "required", "additionalProperties", "minProperties", "maxProperties"]],
  ["array", ["items", "prefixItems", "minItems", "maxItems"]],
  ["string", ["pattern", "minLength", "maxLength", "format"]],
  ["number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]],
];

export function wrong(message: string): SchemaError {
  return new SchemaError("wrong", message);
}

export function cannotEnforce(message: string): SchemaError {
  return new SchemaError("cannot_enforce", message);
}

export function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The first keyword of the schema that a grammar cannot enforce. */
export function unenforcedKeyword(schema: Schema): string | undefined {
  return Object.keys(schema).find((key) => unenforced.has(key));
}

/** Whether a value is of a schema's `type`, which may be a list. */
export function isOfType(value: unknown, type: unknown): boolean {
  if (Array.isArray(type)) return type.some((each) => isOfType(value, each));
  if (type === "integer") return Number.isInteger(value);
  if (type === "object") return isObject(value);
  if (type === "array") return Array.isArray(value);
  return type === "null" ? value === null : typeof value === type;
}

/** `type`, or the type that the other keywords imply. */
export function typeOf(schema: Schema): unknown {
  return schema["type"] ?? typeByKeyword.find(([, keywords]) => keywords.some((key) => key in schema))?.[0];
}

/** The target of a reference such as `#/$defs/name`. */
export function resolve(root: unknown, reference: string, rules: Rules): unknown {
  const parts = reference.split("/").slice(1);
  rules.spendOnText(reference);
  rules.spend(parts.length);
  let target = root;
  for (const part of parts) {
    const key = keyOf(part, reference);
    const holder: unknown = target;
    target =
      isObject(holder) && Object.hasOwn(holder, key)
        ? holder[key]
        : Array.isArray(holder)
          ? holder[Number(key)]
          : undefined;
    if (target === undefined) throw wrong(`$ref ${reference} points at nothing`);
  }
  return target;
}

/** A part of a pointer is escaped twice (RFC 6901, sections 4 and 6). */
function keyOf(part: string, reference: string): string {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    throw wrong(`$ref ${reference} has an invalid % escape`);
  }
}

/** Merges schemas that must all hold. Properties and required names are combined; of other repeated keywords the last counts. */
export function merged(parts: readonly unknown[], rules: Rules): unknown {
  const noSchema = parts.find((part) => part !== true && !isObject(part));
  if (noSchema !== undefined) return noSchema;
  const all = new Map<string, unknown>();
  const properties = new Map<string, unknown>();
  const required: unknown[] = [];
  for (const part of parts) {
    for (const [key, value] of entriesOf(part, rules)) {
      if (key === "properties" && isObject(value)) {
        for (const [name, schema] of entriesOf(value, rules)) properties.set(name, schema);
        all.set(key, properties);
      } else if (key === "required" && Array.isArray(value)) {
        rules.spend(value.length);
        for (const name of value) required.push(name);
        all.set(key, required);
      } else all.set(key, value);
    }
  }
  if (all.get("properties") === properties) all.set("properties", Object.fromEntries(properties));
  return Object.fromEntries(all);
}

/** A merged entry is looked up, stored and written again. */
const stepsPerEntry = 10;

function entriesOf(value: unknown, rules: Rules): [string, unknown][] {
  if (!isObject(value)) return [];
  const entries = Object.entries(value);
  rules.spend(1 + stepsPerEntry * entries.length);
  return entries;
}

export interface NamedProperty {
  name: string;
  schema: unknown;
  isRequired: boolean;
}

/** The properties that have a schema or are required. */
export function namedProperties(schema: Schema, rules: Rules): NamedProperty[] {
  const properties = schema["properties"] ?? {};
  if (!isObject(properties)) throw wrong("properties must be an object");
  const required = schema["required"] ?? [];
  if (!Array.isArray(required)) throw wrong("required must be an array");
  rules.spend(Object.keys(properties).length + required.length);
  const names = new Set<unknown>(required);
  const missing = required.filter(
    (name: unknown) => typeof name === "string" && !Object.hasOwn(properties, name),
  );
  const named = {
    ...properties,
    ...Object.fromEntries(missing.map((name: unknown) => [String(name), true])),
  };
  return Object.entries(named).map(([name, value]) => ({
    name,
    schema: value,
    isRequired: names.has(name),
  }));
}

/** The value of `minItems`, `maxLength` and so on. */
export function countOf(schema: Schema, keyword: string): number | undefined {
  const value = schema[keyword];
  if (value === undefined) return undefined;
  const isCount = typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= countMax;
  if (!isCount) throw wrong(`${keyword} must be an integer from 0 to ${countMax}`);
  return value;
}

/** The bounds of a number. */
export function numberBounds(schema: Schema): { min: Bound | undefined; max: Bound | undefined } {
  return {
    min: tighter(boundOf(schema, "minimum", false), boundOf(schema, "exclusiveMinimum", true), 1),
    max: tighter(boundOf(schema, "maximum", false), boundOf(schema, "exclusiveMaximum", true), -1),
  };
}

function boundOf(schema: Schema, keyword: string, isOpen: boolean): Bound | undefined {
  const value = schema[keyword];
  // In older schemas `true` makes the other bound exclusive; that bound is kept as an inclusive one.
  if (value === undefined || typeof value === "boolean") return undefined;
  if (typeof value !== "number") throw wrong(`${keyword} must be a number`);
  return { value, isOpen };
}

/** The tighter of two lower (1) or upper (-1) bounds. */
function tighter(closed: Bound | undefined, open: Bound | undefined, direction: 1 | -1): Bound | undefined {
  if (closed === undefined || open === undefined) return closed ?? open;
  return open.value * direction >= closed.value * direction ? open : closed;
}

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
