// Random schemas that combine keywords: every pair and every triple of them, with values that are likely to touch each other.
import fc from "fast-check";
import type { Draft } from "./validators.ts";

export type SchemaObject = Readonly<Record<string, unknown>>;

/** Definitions that every random schema has, for `$ref`. */
const definitions: SchemaObject = {
  text: { type: "string", maxLength: 6 },
  number: { type: "integer", minimum: 2, maximum: 40 },
  object: { type: "object", properties: { a: { type: "integer" }, b: { type: "string" } }, required: ["a"] },
  list: { type: "array", items: { type: "integer" }, maxItems: 3 },
  tree: { type: "object", properties: { a: { $ref: "#/$defs/tree" }, b: { type: "boolean" } } },
};

const values = [0, 1, 2, 7, 10, 30, -1, 1.5, -0.5, "", "a", "ab", "b", "2020-01-31", null, true, false];
const moreValues = [...values, [], [1], [1, 2], ["a"], {}, { a: 1 }, { a: 1, b: "x" }, { b: null }];
const types = ["string", "integer", "number", "boolean", "null", "object", "array"];
const names = ["a", "b", "c"];
const patterns = [
  "^a",
  "b$",
  "^[a-c]{2,4}$",
  "^(a|bc)*$",
  "[0-9]",
  "^.$",
  "^\\d+-x?$",
  "",
  "^(?:[A-Z]{3}|x)$",
];
const formats = [
  "date",
  "time",
  "date-time",
  "uuid",
  "ipv4",
  "hostname",
  "uri",
  "email",
  "ipv6",
  "duration",
  "unknown",
];

const count = fc.constantFrom(0, 1, 2, 3, 5);
const bound = fc.constantFrom(-10, -1, -0.5, 0, 0.5, 1, 2, 3, 7, 10, 12.25, 100, 1e15, 5e-7);
const someNames = fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 3 });

const { schema } = fc.letrec<{ schema: unknown; leaf: unknown }>((tie) => ({
  leaf: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...types).map((type) => ({ type })) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(true, {}) },
    { weight: 1, arbitrary: fc.constant<unknown>(false) },
    { weight: 2, arbitrary: fc.constantFrom(...moreValues).map((value) => ({ const: value })) },
    {
      weight: 2,
      arbitrary: fc
        .uniqueArray(fc.constantFrom(...moreValues), { minLength: 1, maxLength: 4 })
        .map((listed) => ({ enum: listed })),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom(...Object.keys(definitions)).map((name) => ({ $ref: `#/$defs/${name}` })),
    },
  ),
  schema: fc.oneof(
    { maxDepth: 1 },
    { weight: 2, arbitrary: tie("leaf") },
    {
      weight: 1,
      arbitrary: fc.tuple(bound, bound).map(([low, high]) => ({
        type: "number",
        minimum: Math.min(low, high),
        maximum: Math.max(low, high),
      })),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant("string"), minLength: count }) },
    {
      weight: 1,
      arbitrary: fc.record({ type: fc.constant("string"), pattern: fc.constantFrom(...patterns) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        type: fc.constant("object"),
        properties: fc.dictionary(fc.constantFrom(...names), tie("schema"), { maxKeys: 2 }),
        required: someNames,
      }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant("array"), items: tie("schema") }) },
    { weight: 1, arbitrary: fc.record({ required: someNames }) },
  ),
}));

const schemas = fc.array(schema, { minLength: 1, maxLength: 3 });
const properties = fc.dictionary(fc.constantFrom(...names), schema, { maxKeys: 3 });

/** For each keyword of 2020-12, its values in random schemas. */
const newestValues: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  type: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...types) },
    { weight: 1, arbitrary: fc.uniqueArray(fc.constantFrom(...types), { minLength: 1, maxLength: 3 }) },
  ),
  enum: fc.uniqueArray(fc.constantFrom(...moreValues), { minLength: 1, maxLength: 8 }),
  const: fc.constantFrom(...moreValues),
  minimum: bound,
  maximum: bound,
  exclusiveMinimum: bound,
  exclusiveMaximum: bound,
  multipleOf: fc.constantFrom(1, 2, 0.5, 3, 10, 0.01),
  minLength: count,
  maxLength: count,
  pattern: fc.constantFrom(...patterns),
  format: fc.constantFrom(...formats),
  items: schema,
  prefixItems: schemas,
  minItems: count,
  maxItems: count,
  uniqueItems: fc.boolean(),
  contains: schema,
  minContains: count,
  maxContains: count,
  properties,
  required: someNames,
  additionalProperties: fc.oneof(fc.boolean(), schema),
  patternProperties: fc.dictionary(fc.constantFrom(...patterns), schema, { minKeys: 1, maxKeys: 2 }),
  propertyNames: schema,
  minProperties: count,
  maxProperties: count,
  dependentRequired: fc.dictionary(fc.constantFrom(...names), someNames, { minKeys: 1, maxKeys: 2 }),
  dependentSchemas: fc.dictionary(fc.constantFrom(...names), schema, { minKeys: 1, maxKeys: 2 }),
  unevaluatedProperties: fc.oneof(fc.boolean(), schema),
  unevaluatedItems: fc.oneof(fc.boolean(), schema),
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  not: schema,
  ...Object.fromEntries(["if", "then", "else"].map((keyword) => [keyword, schema])),
  $ref: fc.constantFrom(...Object.keys(definitions)).map((name) => `#/$defs/${name}`),
};

/** Keywords that have other values in drafts 4 and 7, or exist only there. */
const olderValues: typeof newestValues = {
  items: fc.oneof(schema, schemas),
  additionalItems: fc.oneof(fc.boolean(), schema),
  dependencies: fc.dictionary(fc.constantFrom(...names), fc.oneof(someNames, schema), {
    minKeys: 1,
    maxKeys: 2,
  }),
};
const draft4Values: typeof newestValues = {
  ...olderValues,
  exclusiveMinimum: fc.boolean(),
  exclusiveMaximum: fc.boolean(),
};
const after7 = [
  "prefixItems",
  "minContains",
  "maxContains",
  "dependentRequired",
  "dependentSchemas",
  "unevaluatedProperties",
  "unevaluatedItems",
];
const after4 = [...after7, "const", "contains", "propertyNames", "if", "then", "else"];

const valuesByDraft: Readonly<Record<Draft, typeof newestValues>> = {
  draft4: { ...without(newestValues, after4), ...draft4Values },
  draft7: { ...without(newestValues, after7), ...olderValues },
  "draft2019-09": newestValues,
  "draft2020-12": newestValues,
};

function without<Value>(
  all: Readonly<Record<string, Value>>,
  left: readonly string[],
): Record<string, Value> {
  return Object.fromEntries(Object.entries(all).filter(([keyword]) => !left.includes(keyword)));
}

/** The keywords of random schemas of a draft. */
export function draftKeywords(draft: Draft): readonly string[] {
  return Object.keys(valuesByDraft[draft]);
}

/** All sets of so many keywords. */
export function combinations(size: number, from: readonly string[]): string[][] {
  if (size === 0) return [[]];
  return from.flatMap((keyword, at) =>
    combinations(size - 1, from.slice(at + 1)).map((others) => [keyword, ...others]),
  );
}

/** Schemas with these keywords, the same ones for the same seed. */
export function randomSchemas(
  of: readonly string[],
  amount: number,
  seed: number,
  draft: Draft = "draft2020-12",
): SchemaObject[] {
  const own = valuesByDraft[draft];
  const known = of.map((keyword) => [keyword, own[keyword] ?? fc.constant(true)] as const);
  const arbitrary = fc.record(Object.fromEntries(known)).map((alone) => {
    const drawn = draft === "draft4" ? withBounds(alone) : alone;
    // A definition is there only if a reference names it, so that texts of schemas stay short.
    const used = Object.entries(definitions).filter(([name]) =>
      JSON.stringify(drawn).includes(`#/$defs/${name}"`),
    );
    return used.length === 0 ? drawn : { ...drawn, $defs: Object.fromEntries(used) };
  });
  return fc.sample(arbitrary, { numRuns: amount, seed });
}

/** In draft 4, an exclusive bound is `true` beside the bound. */
function withBounds(drawn: SchemaObject): SchemaObject {
  const { exclusiveMinimum, exclusiveMaximum } = drawn;
  return {
    ...(exclusiveMinimum === undefined ? {} : { minimum: 0 }),
    ...(exclusiveMaximum === undefined ? {} : { maximum: 7 }),
    ...drawn,
  };
}
