// Tool parameters as llama.cpp's own reading of schemas can stand them: it recurses, writes patterns so that they can
// break a JSON string, and takes numbers for smaller ones than they are. What it could misread is left out; the grammar
// for the call is then wider than the schema, never wrong. Used by chat-preparation.ts.

import { Rules } from "./rules.ts";
import { resolve } from "./schema-keywords.ts";

/** Longest name of a property that is kept; llama.cpp matches names by a recursive regular expression. */
const nameLengthMax = 256;
/** Bounds beyond these do not bound anything that is written. */
const integerMax = 1e15;
/** Counts beyond these cannot be meant. */
const countMax = 1_000_000;

const counts = new Set(["minLength", "maxLength", "minItems", "maxItems"]);
const bounds = new Set(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]);

/** The schema is not nested deeply: that was checked where it came in. */
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

/** Refuses references into the schema that point at nothing. Throws a SchemaError. */
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
