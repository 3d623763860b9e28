// What the keywords of a JSON schema say, checked and put together, before any grammar is written of it. Used by json-schema.ts.
import type { Bound } from "./number-range.ts";
import type { Rules } from "./rules.ts";
import { SchemaError } from "./schema-error.ts";

export type Schema = Readonly<Record<string, unknown>>;

/** Most that `minItems`, `maxLength` and so on may say; more cannot be meant. */
const countMax = 1_000_000_000;

/** Keywords that say something about a value and that a grammar cannot hold it to. */
const unenforced = new Set([
  "contains",
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

/** A keyword of the schema that no grammar can hold a value to. */
export function unenforcedKeyword(schema: Schema): string | undefined {
  return Object.keys(schema).find((key) => unenforced.has(key));
}

/** What `type` says, or else the type that the other keywords are about. */
export function typeOf(schema: Schema): unknown {
  return schema["type"] ?? typeByKeyword.find(([, keywords]) => keywords.some((key) => key in schema))?.[0];
}

/** What a reference such as `#/$defs/name` points at. */
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

/** RFC 6901, sections 4 and 6: a part of a pointer is escaped twice. */
function keyOf(part: string, reference: string): string {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    throw wrong(`$ref ${reference} has a % that stands for no character`);
  }
}

/**
 * All must hold. What only one of them says is kept, and of what several say the last; properties, and the names that are
 * required, are put together.
 */
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

/** An entry that is put together with others is looked up, kept and written again. */
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

/** The properties that are named, by a schema or by being required. */
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

/** What `minItems`, `maxLength` and so on say. */
export function countOf(schema: Schema, keyword: string): number | undefined {
  const value = schema[keyword];
  if (value === undefined) return undefined;
  const isCount = typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= countMax;
  if (!isCount) throw wrong(`${keyword} must be an integer from 0 to ${countMax}`);
  return value;
}

/** Between which numbers a value is. */
export function numberBounds(schema: Schema): { min: Bound | undefined; max: Bound | undefined } {
  return {
    min: tighter(boundOf(schema, "minimum", false), boundOf(schema, "exclusiveMinimum", true), 1),
    max: tighter(boundOf(schema, "maximum", false), boundOf(schema, "exclusiveMaximum", true), -1),
  };
}

function boundOf(schema: Schema, keyword: string, isOpen: boolean): Bound | undefined {
  const value = schema[keyword];
  // Older schemas say with true that the bound beside it is open; a closed one is what they mean at least.
  if (value === undefined || typeof value === "boolean") return undefined;
  if (typeof value !== "number") throw wrong(`${keyword} must be a number`);
  return { value, isOpen };
}

/** Of two lower (1) or upper (-1) bounds, the one that leaves less. */
function tighter(closed: Bound | undefined, open: Bound | undefined, direction: 1 | -1): Bound | undefined {
  if (closed === undefined || open === undefined) return closed ?? open;
  return open.value * direction >= closed.value * direction ? open : closed;
}
