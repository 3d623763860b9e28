// What a strict schema allows: each text of its grammar is valid, or the schema is refused by the name of the keyword. An independent
// validator judges texts that are drawn at random.
import { Ajv, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { Gbnf } from "../../../test/harness/gbnf.ts";
import { schemaRules } from "./json-schema.ts";

const samples = 60;

/** Numbers from 0 to below 1, always the same ones (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function validator(schema: object): ValidateFunction {
  const isOld = "items" in schema && Array.isArray(schema.items);
  return new (isOld ? Ajv : Ajv2020)({ strict: false, logger: false, validateFormats: false }).compile(
    schema,
  );
}

const definitions = {
  $defs: { N: { type: "string" }, Small: { maximum: 5 }, Cat: kind("cat"), Dog: kind("dog") },
};

function kind(name: string): object {
  return { type: "object", properties: { kind: { const: name } }, required: ["kind"] };
}

type Row = readonly [title: string, schema: object, allowed: readonly string[], forbidden: readonly string[]];

const rows: readonly Row[] = [
  [
    "what stands beside $ref",
    { properties: { name: { $ref: "#/$defs/N", minLength: 3 } }, required: ["name"], ...definitions },
    ['{"name":"abc"}'],
    ['{"name":"ab"}', '{"name":1}', "{}"],
  ],
  [
    "two references",
    { $ref: "#/$defs/Small", allOf: [{ type: "integer", minimum: 3 }], ...definitions },
    ["3", "5"],
    ["2", "6"],
  ],
  [
    "a base beside oneOf of references",
    {
      type: "object",
      properties: { id: { type: "integer" } },
      required: ["id"],
      oneOf: [{ $ref: "#/$defs/Cat" }, { $ref: "#/$defs/Dog" }],
      ...definitions,
    },
    ['{"id":1,"kind":"cat"}', '{"id":2,"kind":"dog"}'],
    ['{"kind":"cat"}', '{"id":1}', '{"id":1,"kind":"cow"}'],
  ],
  [
    "prefixItems and minItems",
    {
      type: "array",
      prefixItems: [{ const: "a" }, { const: "b" }],
      items: { type: "integer" },
      minItems: 3,
      maxItems: 3,
    },
    ['["a","b",7]'],
    ['["a","b"]', '["a","b",7,8]', '["a","b","c"]'],
  ],
  [
    "prefixItems and maxItems",
    { type: "array", prefixItems: [{ const: 1 }, { const: 2 }], maxItems: 1 },
    ["[1]"],
    ["[1,2]"],
  ],
  [
    "items of draft 7 and additionalItems",
    { type: "array", items: [{ const: 1 }, false], additionalItems: { type: "string" } },
    ["[1]"],
    ["[1,2]", '[1,"a"]'],
  ],
  [
    "a pattern and a format",
    { type: "string", pattern: "^[0-9]{4}-01", format: "date" },
    ['"2026-01-31"'],
    ['"2026-02-01"', '"2026-01-32"'],
  ],
  [
    "a format and a length",
    { type: "string", format: "email", maxLength: 8 },
    ['"ab@cd.ef"'],
    ['"abc@de.org"'],
  ],
  [
    "a hostname without encoded labels",
    { type: "string", format: "hostname" },
    ['"a.b-c.example"', '"a--b"', '"ab-c-d"', `"${"a".repeat(63)}.b"`],
    ['"xn--X"', '"XN--aa---o47jg78q"', '"ab--c"', '"a-"', `"${"a".repeat(64)}.b"`],
  ],
  [
    "a hostname and a pattern",
    { type: "string", format: "hostname", pattern: "^[xn-]+$" },
    ['"xn-x"', '"x--n"'],
    ['"xn--x"', '"x.n"'],
  ],
  [
    "a template of URIs, which has no apostrophe",
    { type: "string", format: "uri-template" },
    ['"https://example.org/a(b)"'],
    [`"https://example.org/a'b"`],
  ],
  [
    "a pattern and a length",
    { type: "string", pattern: "^([a-z]+-)*[a-z]+$", minLength: 4, maxLength: 6 },
    ['"ab-cd"', '"abcd"'],
    ['"abc"', '"ab-cdef"', '"abc-"'],
  ],
  [
    "a pattern and a long length",
    { type: "string", pattern: "^[a-z][a-z0-9_]*$", maxLength: 100_000 },
    ['"a_1"'],
    ['""', '"_"'],
  ],
  [
    "two patterns",
    { allOf: [{ type: "string", pattern: "a" }, { pattern: "b" }] },
    ['"xbxax"'],
    ['"a"', '"b"'],
  ],
  [
    "two ranges",
    { allOf: [{ type: "integer", minimum: 100, maximum: 200 }, { minimum: 1 }] },
    ["100", "200"],
    ["1", "99"],
  ],
  [
    "two enums",
    { allOf: [{ enum: ["a", "b", 1] }, { enum: ["b", 1, null] }] },
    ['"b"', "1"],
    ['"a"', "null"],
  ],
  [
    "the same property twice",
    {
      allOf: [
        { properties: { a: { type: "integer", minimum: 2 } }, required: ["a"] },
        { properties: { a: { maximum: 3 } } },
      ],
    },
    ['{"a":2}', '{"a":3}'],
    ['{"a":1}', '{"a":4}', "{}"],
  ],
  [
    "two anyOf",
    { allOf: [{ anyOf: [{ const: 1 }, { const: 2 }] }, { anyOf: [{ const: 2 }, { const: 3 }] }] },
    ["2"],
    ["1", "3"],
  ],
  ["an enum and a bound", { type: "integer", enum: [1, 2, 30], minimum: 10 }, ["30"], ["1", "2"]],
  [
    "an enum and a type",
    { type: ["integer", "null"], enum: [1, null, 1.5, "a"] },
    ["1", "null"],
    ["1.5", '"a"'],
  ],
  ["an enum and a pattern", { enum: ["abc", "b"], pattern: "^a" }, ['"abc"'], ['"b"']],
  [
    "an enum of objects and required",
    { enum: [{ a: 1 }, { b: [2] }], required: ["b"] },
    ['{"b":[2]}'],
    ['{"a":1}'],
  ],
  [
    "required, and the schema of what is not listed",
    { type: "object", required: ["x"], additionalProperties: { type: "integer" } },
    ['{"x":1}'],
    ['{"x":null}', "{}"],
  ],
  [
    "required, and a pattern of its name",
    {
      type: "object",
      required: ["x1"],
      patternProperties: { "^x": { type: "boolean" } },
      additionalProperties: false,
    },
    ['{"x1":true}'],
    ['{"x1":1}'],
  ],
  [
    "properties and patternProperties",
    {
      type: "object",
      properties: { ab: { type: "integer" } },
      patternProperties: { b$: { minimum: 5 } },
      required: ["ab"],
    },
    ['{"ab":5}'],
    ['{"ab":4}'],
  ],
  [
    "patternProperties without properties",
    {
      type: "object",
      patternProperties: { "^a": { type: "integer" }, z$: { minimum: 3 } },
      additionalProperties: false,
      minProperties: 1,
    },
    ['{"ab":1}', '{"az":3,"bz":3.5}'],
    ["{}", '{"az":1}', '{"q":1}', '{"ab":"x"}'],
  ],
  [
    "propertyNames",
    { type: "object", propertyNames: { pattern: "^[a-z]{2}$" }, additionalProperties: { const: 1 } },
    ['{"ab":1}', "{}"],
    ['{"a":1}', '{"AB":1}'],
  ],
  [
    "the number of properties",
    {
      properties: { a: true, b: { const: 1 }, c: { const: 2 } },
      required: ["b"],
      minProperties: 2,
      maxProperties: 2,
    },
    ['{"b":1,"c":2}', '{"a":0,"b":1}'],
    ['{"b":1}', '{"a":0,"b":1,"c":2}', '{"a":0,"c":2}'],
  ],
  [
    "anyOf beside oneOf",
    {
      anyOf: [{ type: "integer" }, { type: "string" }],
      oneOf: [{ type: "integer", minimum: 5, maximum: 9 }, { const: "q" }],
    },
    ["5", '"q"'],
    ["4", '"a"'],
  ],
  [
    "oneOf whose alternatives overlap",
    { type: "integer", oneOf: [{ minimum: 3 }, { multipleOf: 2 }] },
    ["3", "2", "-4"],
    ["4", "1", "-3"],
  ],
  [
    "oneOf of required names",
    { properties: { a: { const: 1 }, b: { const: 2 } }, oneOf: [{ required: ["a"] }, { required: ["b"] }] },
    ['{"a":1}', '{"b":2}'],
    ["{}", '{"a":1,"b":2}'],
  ],
  [
    "oneOf of objects without required names",
    {
      oneOf: [{ properties: { a: { type: "integer" } } }, { properties: { a: { type: "string" } } }],
      type: "object",
    },
    ['{"a":1}', '{"a":"x"}'],
    ["{}", '{"a":null}'],
  ],
  [
    "exclusiveMinimum of draft 4",
    { type: "integer", minimum: 0, exclusiveMinimum: true, maximum: 3 },
    ["1", "3"],
    ["0", "4"],
  ],
  [
    "an excluded zero",
    { type: "number", minimum: -0.5, exclusiveMaximum: 0 },
    ["-0.5", "-0.001"],
    ["-0", "-0.0", "0", "-0.6"],
  ],
  [
    "an excluded bound that rounding would reach",
    { type: "number", exclusiveMinimum: 5, exclusiveMaximum: 1_000_000 },
    ["999999.5", "5.5"],
    ["999999.9999999999999", "5.000000000000001"],
  ],
  ["a tiny bound", { type: "number", minimum: 1.5e-7, maximum: 1 }, ["0.00000015", "1"], ["0", "0.00000014"]],
  [
    "surrogate pairs in a pattern",
    { type: "string", pattern: String.raw`^[\ud83d\ude00-\ud83d\ude02]\ud83d\ude00$` },
    ['"😁😀"'],
    ['"😀"', '"😃😀"'],
  ],
  [
    "lookaheads",
    { type: "string", pattern: "^(?!x)(?=.*[0-9])[a-z0-9]{3}$" },
    ['"ab1"', '"a1x"'],
    ['"abc"', '"x12"', '"ab12"'],
  ],
  [
    "word boundaries and anchors inside",
    { type: "string", pattern: String.raw`^(a|^b)\b( .*)?$` },
    ['"a b"', '"b"'],
    ['"ab"', '"a_"'],
  ],
  [
    "not of names",
    { properties: { a: { const: 1 }, b: { const: 2 } }, not: { required: ["a", "b"] } },
    ['{"a":1}', '{"b":2}', "{}"],
    ['{"a":1,"b":2}'],
  ],
  [
    "not of values",
    { type: "string", not: { enum: ["", "ab"] }, maxLength: 2 },
    ['"a"', '"ba"'],
    ['""', '"ab"'],
  ],
  ["not of a pattern", { type: "string", not: { pattern: "[0-9]" } }, ['"ab"', '""'], ['"a1"']],
  ["not of a type", { not: { type: ["string", "object", "array"] } }, ["1", "null"], ['""', "{}"]],
  ["not of a range", { type: "integer", not: { minimum: 3, maximum: 5 } }, ["2", "6"], ["3", "5"]],
  [
    "if, then and else",
    {
      type: "object",
      properties: { kind: { enum: ["a", "b"] }, size: { type: "integer" } },
      required: ["kind"],
      if: { properties: { kind: { const: "a" } } },
      // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
      then: { required: ["size"] },
      else: { properties: { size: { maximum: 0 } } },
    },
    ['{"kind":"a","size":5}', '{"kind":"b"}', '{"kind":"b","size":-1}'],
    ['{"kind":"a"}', '{"kind":"b","size":1}'],
  ],
  [
    "dependencies",
    {
      properties: { a: { const: 1 }, b: { const: 2 }, c: { const: 3 } },
      dependentRequired: { a: ["b"] },
      dependentSchemas: { c: { required: ["a"] } },
    },
    ["{}", '{"b":2}', '{"a":1,"b":2,"c":3}'],
    ['{"a":1}', '{"b":2,"c":3}'],
  ],
  [
    "multiples",
    { type: "integer", allOf: [{ multipleOf: 6 }, { multipleOf: 4 }], minimum: -24, maximum: 100 },
    ["-24", "0", "12", "96"],
    ["6", "4", "-36", "108"],
  ],
  [
    "multiples with long remainders",
    { type: "integer", multipleOf: 60, minimum: 1, not: { multipleOf: 7 } },
    ["60", "123000"],
    ["420", "61", "0"],
  ],
  ["multiples of 1", { type: "number", multipleOf: 1 }, ["5", "-3"], ["5.5"]],
  [
    "different items of a list",
    { type: "array", items: { enum: ["a", "b", "c"] }, uniqueItems: true, minItems: 2 },
    ['["a","c"]', '["a","b","c"]'],
    ['["a","a"]', '["a"]'],
  ],
  [
    "contains",
    { type: "array", items: { type: "integer" }, contains: { minimum: 5 } },
    ["[5]", "[1,6,2]"],
    ["[]", "[1,2]"],
  ],
  [
    "a property that cannot be",
    { type: "object", properties: { a: { not: {} }, b: { const: 1 } } },
    ["{}", '{"b":1}'],
    ['{"a":1}'],
  ],
  [
    "alternatives that cannot be",
    { anyOf: [{ type: "object", required: ["x"], properties: { x: false } }, { type: "null" }] },
    ["null"],
    ["{}", '{"x":1}'],
  ],
  [
    "references inside a part with an $id",
    {
      $defs: { x: { const: 1 } },
      properties: {
        a: { $id: "https://example.org/a", $defs: { x: { const: 2 } }, allOf: [{ $ref: "#/$defs/x" }] },
      },
      required: ["a"],
    },
    ['{"a":2}'],
    ['{"a":1}'],
  ],
];

describe("a strict schema enforces", () => {
  it.each(rows)("%s", (_title, schema, allowed, forbidden) => {
    const grammar = new Gbnf(schemaRules(schema, true));
    for (const text of allowed) expect([text, grammar.matches(text)]).toEqual([text, true]);
    for (const text of forbidden) expect([text, grammar.matches(text)]).toEqual([text, false]);
    const { exclusiveMinimum } = schema as { exclusiveMinimum?: unknown };
    if (exclusiveMinimum === true) return; // only the validator of draft 4 reads it
    const validate = validator(schema);
    const random = randomFrom(1);
    for (let count = 0; count < samples; count++) {
      const text = grammar.sample(random);
      expect([text, validate(JSON.parse(text))]).toEqual([text, true]);
      expect([text, grammar.matches(text)]).toEqual([text, true]);
    }
  });
});

describe("a strict schema is refused", () => {
  it.each([
    [{ type: "string", format: "date", minLength: 12 }, "no value is valid"],
    [{ type: "string", pattern: "^[a-z]{3}$", format: "uuid" }, "no value is valid"],
    [{ type: "object", required: ["x"], additionalProperties: false }, "no value is valid"],
    [{ type: "object", properties: { a: { $ref: "#" } }, required: ["a"] }, "no value is valid"],
    [{ allOf: [{ const: 1 }, { const: 2 }] }, "no value is valid"],
    [{ not: {} }, "no value is valid"],
    [{ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }, "without end"],
    [{ $ref: "#/$defs/a", $defs: { a: { allOf: [{ $ref: "#/$defs/a" }] } } }, "without end"],
    [{ type: "string", pattern: String.raw`^(a)\1$`, format: "email" }, "pattern"],
    [{ type: "string", pattern: "^(ab|a|[ab]{2,9}c)*$", maxLength: 100_000 }, "states"],
    [{ type: "number", multipleOf: 0.01 }, "multipleOf"],
    [
      {
        type: "object",
        properties: { a: true },
        not: { additionalProperties: { type: "string" } },
        required: ["a"],
        allOf: [{ properties: { a: { type: "string" } } }],
      },
      "additionalProperties",
    ],
    [{ type: "array", items: { type: "string" }, uniqueItems: true }, "uniqueItems"],
    [{ type: "object", unevaluatedProperties: false }, "unevaluatedProperties"],
    [{ type: "object", minProperties: 2 }, "minProperties"],
    [{ type: "string", not: { format: "date" } }, "format"],
    [{ type: "array", contains: { const: 1 }, maxContains: 2 }, "maxContains"],
    [{ type: "array", not: { items: { const: 1 } }, maxItems: 3 }, "items inside not"],
    [{ type: "array", prefixItems: [{ const: 1 }], contains: false }, "no value is valid"],
    [
      { type: "array", not: { anyOf: [{ items: { const: 1 } }, { items: { const: 2 } }] } },
      "items inside not",
    ],
  ])("%j: %s", (schema, reason) => {
    expect(() => schemaRules(schema, true)).toThrow(reason);
  });
});
