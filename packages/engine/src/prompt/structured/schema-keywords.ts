// Reads and checks the keywords of a JSON schema that restrict one type, and measures how deep it is nested.
import { isEnforcedFormat, isUnenforcedFormat } from "./formats.ts";
import type { Bound } from "./number-range.ts";
import { anyNumbers, isReversed, tighter, type NumberValues } from "./number-values.ts";
import { type Rules, cannotEnforce, invalidSchema } from "./rules.ts";
import { anyStrings, type StringValues } from "./string-values.ts";

export type Schema = Readonly<Record<string, unknown>>;

/** The largest value of `minItems`, `maxLength` and so on. */
const countMax = 1_000_000_000;

/** Keywords that restrict a value and that are not enforced. */
const unenforced = new Set(["$dynamicRef", "$recursiveRef", "unevaluatedItems", "unevaluatedProperties"]);

/** Which type a keyword is about. */
const typeByKeyword: ReadonlyMap<string, string> = new Map(
  Object.entries({
    object: [
      "properties",
      "required",
      "additionalProperties",
      "patternProperties",
      "propertyNames",
      "minProperties",
      "maxProperties",
      "dependencies",
      "dependentRequired",
      "dependentSchemas",
    ],
    array: ["items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains"],
    string: ["pattern", "minLength", "maxLength", "format"],
    number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  }).flatMap(([type, keywords]) => keywords.map((keyword) => [keyword, type])),
);

export function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The first keyword of the schema that is not enforced. */
export function unenforcedKeyword(schema: Schema): string | undefined {
  return Object.keys(schema).find((key) => unenforced.has(key));
}

/** The types that the keywords of a schema are about. */
export function typesAbout(schema: Schema): Set<string> {
  const types = new Set<string>();
  for (const key of Object.keys(schema)) {
    const type = typeByKeyword.get(key);
    if (type !== undefined) types.add(type);
  }
  return types;
}

/** The target of a reference such as `#/$defs/name`, and the document that references inside it point into. */
export function resolve(
  root: unknown,
  reference: unknown,
  rules: Rules,
  hasOwnBase: (schema: Schema) => boolean = () => false,
): { target: unknown; base: unknown } {
  if (typeof reference !== "string" || !/^#(?:\/|$)/.test(reference))
    throw invalidSchema("$ref must point into the schema itself, such as #/$defs/name");
  const parts = reference.split("/").slice(1);
  rules.spendOnText(reference);
  rules.spend(parts.length);
  let target = root;
  let base = root;
  for (const part of parts) {
    const key = unescapePointer(part, reference);
    const holder: unknown = target;
    target =
      isObject(holder) && Object.hasOwn(holder, key)
        ? holder[key]
        : Array.isArray(holder)
          ? holder[Number(key)]
          : undefined;
    if (target === undefined) throw invalidSchema(`$ref ${reference} points at nothing`);
    if (isObject(target) && hasOwnBase(target)) base = target;
  }
  return { target, base };
}

/** A part of a pointer is escaped twice (RFC 6901, sections 4 and 6). */
function unescapePointer(part: string, reference: string): string {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    throw invalidSchema(`$ref ${reference} has an invalid % escape`);
  }
}

/** The value of `minItems`, `maxLength` and so on. */
export function countKeyword(schema: Schema, keyword: string): number | undefined {
  const value = schema[keyword];
  if (value === undefined) return undefined;
  const isCount = typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= countMax;
  if (!isCount) throw invalidSchema(`${keyword} must be an integer from 0 to ${countMax}`);
  return value;
}

/** The value of a list of schemas. */
export function listKeyword(schema: Schema, keyword: string): readonly unknown[] {
  const value = schema[keyword];
  if (!Array.isArray(value)) throw invalidSchema(`${keyword} must be an array`);
  if (value.length === 0 && keyword !== "prefixItems") throw invalidSchema(`${keyword} must not be empty`);
  return value;
}

/** The value of a keyword that has names, such as `properties`; empty if there is none. */
export function objectKeyword(schema: Schema, keyword: string): Schema {
  const value = schema[keyword] ?? {};
  if (!isObject(value)) throw invalidSchema(`${keyword} must be an object`);
  return value;
}

/** The types that a schema allows; undefined for all. */
export function allowedTypes(schema: Schema): ReadonlySet<string> | undefined {
  const { type } = schema;
  if (type === undefined) return undefined;
  const types: unknown[] = Array.isArray(type) ? type : [type];
  if (types.length === 0) throw invalidSchema("type must not be empty");
  for (const each of types) {
    if (typeof each !== "string" || !known.has(each))
      throw invalidSchema(`unknown type ${JSON.stringify(each)}`);
  }
  return new Set(types.map(String));
}

const known: ReadonlySet<string> = new Set([
  "null",
  "boolean",
  "integer",
  "number",
  "string",
  "array",
  "object",
]);

export function numberKeywords(schema: Schema, isStrict: boolean): NumberValues {
  const { multipleOf } = schema;
  if (multipleOf !== undefined && !(typeof multipleOf === "number" && multipleOf > 0) && isStrict)
    throw invalidSchema("multipleOf must be a number above 0");
  const bounds = {
    min: boundKeyword(schema, "minimum", "exclusiveMinimum", 1),
    max: boundKeyword(schema, "maximum", "exclusiveMaximum", -1),
  };
  if (isReversed(bounds)) throw invalidSchema("no number is between minimum and maximum");
  const multiples = typeof multipleOf === "number" && multipleOf > 0 ? [multipleOf] : [];
  if (bounds.min === undefined && bounds.max === undefined && multiples.length === 0) return anyNumbers;
  return { ...anyNumbers, ...bounds, multiples };
}

/** In draft 4, an exclusive bound is `true` beside the bound. */
function boundKeyword(schema: Schema, closed: string, open: string, direction: 1 | -1): Bound | undefined {
  const isOpen = schema[open] === true;
  return tighter(
    numberBound(schema, closed, isOpen),
    typeof schema[open] === "boolean" ? undefined : numberBound(schema, open, true),
    direction,
  );
}

function numberBound(schema: Schema, keyword: string, isOpen: boolean): Bound | undefined {
  const value = schema[keyword];
  if (value === undefined) return undefined;
  if (typeof value !== "number") throw invalidSchema(`${keyword} must be a number`);
  return { value, isOpen };
}

/** Patterns that are not readable are ignored. */
export function stringKeywords(
  schema: Schema,
  isStrict: boolean,
  isReadable: (pattern: string) => boolean,
): StringValues {
  const [min, max] = countRange(schema, "Length");
  const { pattern, format } = schema;
  if (isStrict && isUnenforcedFormat(format))
    throw cannotEnforce(`the format ${String(format)} cannot be enforced`);
  const patterns = typeof pattern === "string" && isReadable(pattern) ? [pattern] : [];
  const formats = isEnforcedFormat(format) ? [format] : [];
  if (min === 0 && max === undefined && patterns.length + formats.length === 0) return anyStrings;
  return { ...anyStrings, min, max, patterns, formats };
}

/** `min…` and `max…` of what is counted. */
export function countRange(
  schema: Schema,
  counted: "Items" | "Length" | "Properties",
): [min: number, max: number | undefined] {
  const min = countKeyword(schema, `min${counted}`) ?? 0;
  const max = countKeyword(schema, `max${counted}`);
  if (max !== undefined && max < min) throw invalidSchema(`max${counted} is less than min${counted}`);
  return [min, max];
}

/** 0 for a simple value, 1 for an object or array of simple values, and so on. */
export function nestingDepth(value: unknown): number {
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
