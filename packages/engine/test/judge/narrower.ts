// Grammars are narrower than their schemas in ways that docs/http-api.md#structured-output lists. Finds out which of them keeps a
// valid instance out. It knows nothing of the code that writes grammars.
import type { SchemaObject } from "./random-schemas.ts";
import type { Draft } from "./validators.ts";

/** Keywords whose schemas are about the same value. */
const aboutTheSame = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];
const namedAboutTheSame = ["dependentSchemas", "dependencies"];
/** Keywords beside `$ref` that change nothing. */
const annotations = new Set(["$ref", "title", "description", "default", "$comment", "$schema", "$id", "id"]);
const definitions = new Set(["$defs", "definitions"]);

const keywordsByType: Readonly<Record<string, string>> = {
  object:
    "properties required additionalProperties patternProperties propertyNames minProperties maxProperties " +
    "dependencies dependentRequired dependentSchemas",
  array: "items prefixItems additionalItems minItems maxItems uniqueItems contains",
  string: "pattern minLength maxLength format",
  number: "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
};

/** Digits of a number that are certainly generated. */
const digitsMax = 15;
/** References within references. */
const depthMax = 20;

/** Undefined if nothing keeps the instance out. */
export function narrowing(root: SchemaObject, instance: unknown, draft: Draft): string | undefined {
  const { $schema: dialect } = root;
  if (typeof dialect === "string" && !dialect.includes("json-schema.org")) return "a metaschema of one's own";
  return findReason([root], instance, root, draft);
}

function findReason(
  schemas: readonly unknown[],
  value: unknown,
  root: SchemaObject,
  draft: Draft,
): string | undefined {
  const all = schemas.flatMap((schema) => inPlace(schema, root, depthMax));
  const beside = all.some((schema) => isRefOnly(draft) && hasMoreThanRef(schema));
  if (beside) return "keywords beside $ref count in all drafts";
  const type = jsonType(value);
  if (all.some((schema) => isAboutOthers(schema, type)))
    return "a value of a type that the keywords are not about";
  if (Array.isArray(value)) return reasonOfArray(all, value, root, draft);
  if (isObject(value)) return reasonOfObject(all, value, root, draft);
  if (typeof value === "number") return reasonOfNumber(all, value);
  return typeof value === "string" ? reasonOfString(all, value) : undefined;
}

function reasonOfObject(
  all: readonly SchemaObject[],
  value: SchemaObject,
  root: SchemaObject,
  draft: Draft,
): string | undefined {
  const named = propertyNames(all);
  if (named.size > 0 && Object.keys(value).some((name) => !named.has(name)))
    return "a property that the schema does not name";
  if (all.some((schema) => needsTwoAlternatives(schema, value, root)))
    return "properties that only two alternatives together name";
  for (const [name, each] of Object.entries(value)) {
    const children = all.flatMap((schema) => [
      ...(Object.hasOwn(readProperties(schema), name) ? [readProperties(schema)[name]] : []),
      ...(schema["additionalProperties"] === undefined ? [] : [schema["additionalProperties"]]),
      ...(isObject(schema["patternProperties"]) ? Object.values(schema["patternProperties"]) : []),
    ]);
    const reason = findReason(children, each, root, draft);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function reasonOfArray(
  all: readonly SchemaObject[],
  value: readonly unknown[],
  root: SchemaObject,
  draft: Draft,
): string | undefined {
  if (value.length > 1 && all.some((schema) => schema["uniqueItems"] === true))
    return "the order of unique items";
  for (const schema of all) {
    const first = toList(schema["prefixItems"] ?? schema["items"]);
    const rest = Array.isArray(schema["items"]) ? schema["additionalItems"] : schema["items"];
    if (first.length === 0) continue;
    if (value.length < first.length || (value.length > first.length && rest === undefined))
      return "more or fewer items than prefixItems";
  }
  for (const [index, each] of value.entries()) {
    const children = all.flatMap((schema) => {
      const { items, prefixItems, additionalItems, contains } = schema;
      const first = toList(prefixItems ?? items);
      return [first[index], Array.isArray(items) ? additionalItems : items, contains];
    });
    const reason = findReason(children, each, root, draft);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function reasonOfNumber(all: readonly SchemaObject[], value: number): string | undefined {
  const text = JSON.stringify(value);
  const isLong =
    /e/.test(text) || text.split(".").some((digits) => digits.replace("-", "").length > digitsMax);
  if (isLong) return `a number with more than ${digitsMax} digits or an exponent`;
  const isMultiple = all.some((schema) => schema["multipleOf"] !== undefined);
  return isMultiple && text.length > 6 ? "a multiple with many digits" : undefined;
}

function reasonOfString(all: readonly SchemaObject[], value: string): string | undefined {
  if (all.some((schema) => schema["format"] !== undefined))
    return "a string of a format that is not generated";
  return value.includes("\u007F") ? "the character U+007F" : undefined;
}

/** The schema, and those in it that are about the same value. */
function inPlace(schema: unknown, root: SchemaObject, depth: number): SchemaObject[] {
  if (!isObject(schema) || depth === 0) return [];
  const below = aboutTheSame.flatMap((keyword) => {
    const value = schema[keyword];
    return Array.isArray(value) ? value : [value];
  });
  const named = namedAboutTheSame.flatMap((keyword) => {
    const value = schema[keyword];
    return isObject(value) ? Object.values(value) : [];
  });
  const target = typeof schema["$ref"] === "string" ? resolvePointer(schema["$ref"], root) : undefined;
  return [schema, ...[...below, ...named, target].flatMap((each) => inPlace(each, root, depth - 1))];
}

function resolvePointer(reference: string, root: SchemaObject): unknown {
  let at: unknown = root;
  for (const part of reference.split("/").slice(1)) {
    const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    at = isObject(at) ? at[key] : Array.isArray(at) ? at[Number(key)] : undefined;
  }
  return at;
}

function isRefOnly(draft: Draft): boolean {
  return draft === "draft4" || draft === "draft7";
}

function hasMoreThanRef(schema: SchemaObject): boolean {
  const keys = Object.keys(schema).filter((key) => !definitions.has(key));
  return typeof schema["$ref"] === "string" && keys.some((key) => !annotations.has(key));
}

function isAboutOthers(schema: SchemaObject, type: string): boolean {
  if (["type", "enum", "const"].some((keyword) => schema[keyword] !== undefined)) return false;
  const about = Object.entries(keywordsByType).filter(([, keywords]) =>
    keywords.split(" ").some((keyword) => keyword in schema),
  );
  return about.length > 0 && about.every(([name]) => name !== type);
}

function propertyNames(schemas: readonly SchemaObject[]): Set<unknown> {
  return new Set(
    schemas.flatMap((schema) => [...Object.keys(readProperties(schema)), ...toList(schema["required"])]),
  );
}

/** Whether no alternative names all of the properties that any of them names. */
function needsTwoAlternatives(
  { anyOf, oneOf }: SchemaObject,
  value: SchemaObject,
  root: SchemaObject,
): boolean {
  return [anyOf, oneOf].some((alternatives) => {
    const names = toList(alternatives).map((each) => propertyNames(inPlace(each, root, depthMax)));
    const all = Object.keys(value).filter((name) => names.some((own) => own.has(name)));
    return names.length > 0 && names.every((own) => all.some((name) => !own.has(name)));
  });
}

function readProperties(schema: SchemaObject): SchemaObject {
  return isObject(schema["properties"]) ? schema["properties"] : {};
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function isObject(value: unknown): value is SchemaObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function jsonType(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
