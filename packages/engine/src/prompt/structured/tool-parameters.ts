// Makes tool parameters safe for llama.cpp's own schema converter, which recurses, converts patterns so that they can break a
// JSON string, and truncates large numbers. Whatever it could misread is removed: the grammar of the call may become wider
// than the schema, but never wrong.
import { Rules } from "./rules.ts";
import { resolve } from "./schema-keywords.ts";

/** Longer property names are removed: llama.cpp matches names by a recursive regular expression. */
const nameLengthMax = 256;
/** Larger bounds have no effect on generated numbers. */
const integerMax = 1e15;
/** Larger counts have no effect on generated values. */
const countMax = 1_000_000;

const counts = new Set(["minLength", "maxLength", "minItems", "maxItems"]);
const bounds = new Set(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]);

/** The nesting depth of the schema was checked before. */
export function safeParameters(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(safeParameters);
  if (typeof schema !== "object" || schema === null) return schema;
  const kept = Object.entries(schema).filter(
    ([key, value]) => key.length <= nameLengthMax && isSafe(key, value),
  );
  const safe = Object.fromEntries(kept.map(([key, value]) => [key, safeParameters(value)]));
  if (isReversed(safe, "minLength", "maxLength")) delete safe["minLength"];
  if (isReversed(safe, "minItems", "maxItems")) delete safe["minItems"];
  if (isReversed(safe, "minimum", "maximum")) delete safe["minimum"];
  return safe;
}

/** For templates that fail on `"type": ["string", "null"]`, such as Hermes's: the type is the rest. Calls leave the parameter out. */
export function withoutNullTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutNullTypes);
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema).map(([key, value]: [string, unknown]) => {
    if (key !== "type" || !Array.isArray(value)) return [key, withoutNullTypes(value)] as const;
    const types = value.filter((type) => type !== "null");
    return [key, types.length === 0 ? "null" : types.length === 1 ? types[0] : types] as const;
  });
  return Object.fromEntries(entries);
}

/** Throws a SchemaError for a reference that points at nothing. */
export function refuseLostReferences(parameters: unknown): void {
  const rules = new Rules();
  const look = (schema: unknown): void => {
    if (typeof schema !== "object" || schema === null) return;
    for (const [key, value] of Object.entries(schema)) {
      if (key === "$ref" && typeof value === "string") resolve(parameters, value, rules);
      else look(value);
    }
  };
  look(parameters);
}

function isSafe(key: string, value: unknown): boolean {
  if (key === "pattern" && typeof value === "string") return false;
  if (counts.has(key) && typeof value === "number") return value >= 0 && value <= countMax;
  if (bounds.has(key) && typeof value === "number") return Math.abs(value) <= integerMax;
  return true;
}

function isReversed(schema: Record<string, unknown>, least: string, most: string): boolean {
  const [min, max] = [schema[least], schema[most]];
  return typeof min === "number" && typeof max === "number" && min > max;
}
