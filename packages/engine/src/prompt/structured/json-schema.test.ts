import { describe, expect, it } from "vitest";
import { asRegExp } from "../../../test/harness/as-regexp.ts";
import { schemaRules } from "./json-schema.ts";

const matches = (schema: unknown, json: string): boolean => asRegExp(schemaRules(schema, true)).test(json);

function problem(schema: unknown, isStrict = true): { kind?: string; message: string } {
  try {
    schemaRules(schema, isStrict);
    return { message: "" };
  } catch (error) {
    return error as { kind: string; message: string };
  }
}

describe("objects", () => {
  const person = {
    type: "object",
    properties: { name: { type: "string" }, age: { type: "integer", minimum: 0 }, ok: { type: "boolean" } },
    required: ["name"],
  };

  it.each([
    ['{"name":"Ada"}', true],
    ['{"name":"Ada","age":36}', true],
    ['{"name":"Ada","ok":true}', true],
    ['{ "name":"Ada", "age":0,\n  "ok":false }', true],
    ["{}", false],
    ['{"age":36}', false],
    ['{"age":36,"name":"Ada"}', false],
    ['{"name":"Ada",}', false],
    ['{"name":"Ada","age":-1}', false],
    ['{"name":"Ada","more":1}', false],
  ])("%s: %s", (json, expected) => {
    expect(matches(person, json)).toBe(expected);
  });

  it("without required properties may be empty, and start with any of them", () => {
    const schema = { type: "object", properties: { a: { type: "null" }, b: { type: "null" } } };
    for (const json of ["{}", '{"a":null}', '{"b":null}', '{"a":null,"b":null}'])
      expect(matches(schema, json)).toBe(true);
    expect(matches(schema, '{,"b":null}')).toBe(false);
  });

  it("may have any keys if none is named", () => {
    const schema = {
      type: "object",
      additionalProperties: { type: "boolean" },
      minProperties: 1,
      maxProperties: 2,
    };
    expect(matches(schema, '{"x":true,"y":false}')).toBe(true);
    expect(matches(schema, "{}")).toBe(false);
    expect(matches(schema, '{"x":true,"y":false,"z":true}')).toBe(false);
  });

  it("keep quotes and line breaks in names", () => {
    expect(
      matches({ properties: { 'a"\n\\': { const: 1 } }, required: ['a"\n\\'] }, '{"a\\"\\n\\\\":1}'),
    ).toBe(true);
  });
});

describe("arrays, strings and the rest", () => {
  it.each([
    [{ type: "array", items: { enum: [1, "a"] }, minItems: 1, maxItems: 2 }, '[1,"a"]', true],
    [{ type: "array", items: { enum: [1, "a"] }, minItems: 1, maxItems: 2 }, "[]", false],
    [{ type: "array", items: { enum: [1, "a"] }, minItems: 1, maxItems: 2 }, "[1,1,1]", false],
    [{ prefixItems: [{ const: 1 }, { const: 2 }] }, "[1,2]", true],
    [{ type: "array", items: { type: "null" }, maxItems: 0 }, "[]", true],
    [{ type: "string", minLength: 2, maxLength: 3 }, '"é🦆"', true],
    [{ type: "string", minLength: 2, maxLength: 3 }, '"\\n"', false],
    [{ type: "string", format: "date" }, '"2026-02-28"', true],
    [{ type: "string", format: "date" }, '"2026-04-31"', false],
    [{ type: "string", format: "date-time" }, '"2026-11-20T15:43:20Z"', true],
    [{ type: "string", format: "uuid" }, '"123e4567-e89b-12d3-a456-426614174000"', true],
    [{ type: "string", format: "ipv4" }, '"256.1.1.1"', false],
    [{ type: "string", format: "email" }, '"ada@example.org"', true],
    [{ type: "string", format: "uri" }, '"https://example.org:8080/a/b%20c?q=1#top"', true],
    [{ type: "string", format: "uri" }, '"mailto:ada@example.org"', true],
    [{ type: "string", format: "uri" }, '"file:///etc/hosts"', true],
    [{ type: "string", format: "uri" }, '"not a url"', false],
    [{ type: "string", format: "uri" }, '"example.org/a"', false],
    [{ type: "string", format: "uri" }, '"https://example.org/%zz"', false],
    [{ type: "string", format: "no such thing" }, '"anything"', true],
    [{ type: ["string", "null"] }, "null", true],
    [{ anyOf: [{ type: "boolean" }, { const: { a: [1] } }] }, '{"a":[1]}', true],
    [{ type: "number", exclusiveMinimum: 0, maximum: 1 }, "0.25", true],
    [{ type: "number", exclusiveMinimum: 0, maximum: 1 }, "0", false],
    [{ type: "number" }, "-1.5e10", true],
    [
      {
        allOf: [
          { properties: { a: { const: 1 } }, required: ["a"] },
          { properties: { b: { const: 2 } }, required: ["b"] },
        ],
      },
      '{"a":1,"b":2}',
      true,
    ],
    [{ $ref: "#/$defs/x~1y", $defs: { "x/y": { const: 7 } } }, "7", true],
  ])("%j takes %s: %s", (schema, json, expected) => {
    expect(matches(schema, json)).toBe(expected);
  });

  it("a schema may be recursive", () => {
    const tree = {
      type: "object",
      properties: { next: { anyOf: [{ $ref: "#" }, { type: "null" }] } },
      required: ["next"],
    };
    expect(schemaRules(tree, true)).toContain("ingle-json ::= ");
  });
});

describe("a schema that cannot be converted", () => {
  const deep = Array.from({ length: 100 }).reduce<unknown>((items) => ({ type: "array", items }), {});
  it.each([
    [{ type: "thing" }, "unknown type"],
    [{ enum: [] }, "enum"],
    [{ anyOf: [] }, "must not be empty"],
    [{ $ref: "https://example.org/x" }, "$ref"],
    [{ $ref: "#/nowhere" }, "points at nothing"],
    [{ $ref: "#/100%" }, "invalid % escape"],
    [{ properties: [] }, "properties"],
    [{ $ref: "#/$defs/a/b", $defs: { a: {} } }, "points at nothing"],
    [{ type: "string", maxLength: -1 }, "maxLength"],
    [{ type: "string", minLength: 5, maxLength: 4 }, "less than"],
    [{ type: "array", items: {}, minItems: 3, maxItems: 2 }, "less than"],
    [{ type: "integer", minimum: 3, maximum: 2 }, "no number"],
    [{ type: "integer", minimum: "3" }, "minimum"],
    [deep, "too deeply"],
    [{ type: "array", items: [{ const: "x".repeat(1_100_000) }, {}] }, "too large"],
    [
      { properties: Object.fromEntries(Array.from({ length: 6_000 }, (_, index) => [`p${index}`, {}])) },
      "too large",
    ],
    [false, "must be an object"],
  ])("is refused with the reason (%#)", (schema, reason) => {
    expect(problem(schema).message).toContain(reason);
  });

  it.each([
    ["unevaluatedProperties", { unevaluatedProperties: false }],
    ["$dynamicRef", { $dynamicRef: "#x" }],
    ["multipleOf", { type: "number", multipleOf: 0.01 }],
    ["uniqueItems", { type: "array", items: { type: "string" }, uniqueItems: true }],
    ["minProperties", { type: "object", minProperties: 2 }],
    ["not", { type: "string", not: { format: "date" } }],
    ["pattern", { type: "string", pattern: String.raw`^(a)\1$` }],
    ["patternProperties", { type: "object", patternProperties: { [String.raw`^(a)\1$`]: true } }],
    ["regex", { type: "string", format: "regex" }],
  ])("%s is refused when strict is asked for, and left out otherwise", (keyword, schema) => {
    expect(problem(schema)).toMatchObject({
      kind: "cannot_enforce",
      message: expect.stringContaining(keyword),
    });
    expect(problem(schema, false).message).toBe("");
  });

  it("has the values of an enum that contradicts its type, unless strict", () => {
    const schema = { type: "object", enum: ["a"] };
    expect(problem(schema)).toMatchObject({ kind: "wrong", message: expect.stringContaining("no value") });
    expect(asRegExp(schemaRules(schema, false)).test('"a"')).toBe(true);
  });

  it("with an unsupported pattern uses its format instead, unless strict", () => {
    const schema = { type: "string", format: "email", pattern: String.raw`^(a)\1@` };
    expect(problem(schema)).toMatchObject({ kind: "cannot_enforce" });
    expect(asRegExp(schemaRules(schema, false)).test('"ada@example.org"')).toBe(true);
  });

  it("with huge lengths keeps them", () => {
    expect(schemaRules({ type: "string", maxLength: 1_000_000 }, true)).toContain("{0,1000000}");
  });
});
