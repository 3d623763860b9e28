// The cost of schemas: they come from untrusted clients, and all requests wait while a grammar is written.
import { describe, expect, it } from "vitest";
import { schemaRules } from "./json-schema.ts";
import { SchemaError } from "./rules.ts";

/**
 * Processor time of one conversion. On an idle machine it is some 20 ms; while others compute on the same cores, a few times
 * that. Without a count of steps it was minutes.
 */
const cpuMsMax = 400;

const many = <T>(count: number, item: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => item(index));
const keyed = <T>(count: number, item: (index: number) => T): Record<string, T> =>
  Object.fromEntries(many(count, (index) => [`k${index}`, item(index)]));

/** Every way of writing the letters of `name` in a pointer, as numbers of `bits`. */
const spelled = (name: string, bits: number): string =>
  Array.from(name, (letter, index) =>
    (bits >> index) % 2 === 1 ? `%${letter.charCodeAt(0).toString(16)}` : letter,
  ).join("");

/** By what makes them expensive; each has the largest allowed size, about 250 KiB. */
const expensive: Record<string, object> = {
  "types that share keys": { ...keyed(12_000, () => 1), type: many(12_000, () => "string") },
  "anyOf beside many keys": { ...keyed(12_000, () => 1), anyOf: many(12_000, () => ({})) },
  "anyOf beside many properties": { properties: keyed(12_000, () => true), anyOf: many(12_000, () => ({})) },
  "allOf of single keys": { allOf: many(18_000, (index) => ({ [`k${index}`]: 1 })) },
  "allOf of single properties": {
    allOf: many(6_000, (index) => ({ properties: { [`k${index}`]: true } })),
  },
  "allOf of single required names": {
    allOf: many(8_000, (index) => ({ required: [`k${index}`] })),
  },
  "allOf within allOf": {
    allOf: many(40, () => ({ allOf: many(200, (index) => ({ [`k${index}`]: 1 })) })),
  },
  "allOf that follows one large definition": {
    $defs: { a: keyed(8_000, () => 1) },
    allOf: many(6_000, () => ({ $ref: "#/$defs/a" })),
  },
  "references that spell one target differently": {
    $defs: { abcdefghijklmno: { type: "object", properties: keyed(1_000, () => ({ type: "string" })) } },
    anyOf: many(4_900, (index) => ({ $ref: `#/$defs/${spelled("abcdefghijklmno", index)}` })),
  },
  "references of many parts": {
    $defs: { a: { ...keyed(1, () => 1) } },
    anyOf: many(100, (index) => ({ $ref: `#${"/$defs".repeat(350)}/${index}` })),
  },
  "references that spell an index differently": {
    prefixItems: [{ properties: keyed(1_000, () => ({ type: "string" })) }],
    anyOf: many(4_900, (index) => ({ $ref: `#/prefixItems/${"0".repeat(1 + (index % 200))}` })),
  },
  "a chain of anyOf that doubles": doubling(24),
  "numbers within bounds": {
    prefixItems: many(4_900, (index) => ({
      type: "number",
      minimum: 0.123456789 + index,
      maximum: 987654.3 + index,
    })),
  },
  patterns: { prefixItems: many(2_000, (index) => ({ pattern: `^[^a-c${index}]*(\\W\\s\\D){3}[^x]$` })) },
  "one long enum": { enum: many(30_000, (index) => `v${index}`) },
  "many properties": { properties: keyed(4_900, () => ({ type: "string" })) },
};

Object.assign(expensive, {
  "oneOf of objects that look alike": {
    oneOf: many(300, (index) => ({
      properties: keyed(20, () => ({ type: "string" })),
      required: [`k${index % 20}`],
    })),
  },
  "oneOf within not, again and again": Array.from({ length: 12 }).reduce<object>(
    (inner) => ({ not: { oneOf: [inner, { properties: { a: { minLength: 3 } }, required: ["a"] }] } }),
    { required: ["b"] },
  ),
  "anyOf times anyOf": {
    allOf: many(8, (level) => ({ anyOf: many(30, (index) => ({ required: [`k${level}-${index}`] })) })),
  },
  "dependencies of each on each": {
    properties: keyed(60, () => true),
    dependentRequired: keyed(60, (index) => [`k${(index + 1) % 60}`]),
  },
  "patterns with long lengths": {
    prefixItems: many(300, (index) => ({ pattern: `^([a-z]+[.-])+[a-z]${index}$`, maxLength: 2_000 })),
  },
  "a pattern whose automaton doubles": { pattern: `^(a|b)*a${"(a|b)".repeat(40)}$`, maxLength: 900 },
  "lookaheads that multiply": { pattern: `^${many(40, (index) => `(?=.*a.{${index}}b)`).join("")}` },
  "many patterns for many names": {
    properties: keyed(1_000, () => true),
    patternProperties: Object.fromEntries(many(100, (index) => [`(a|k)*${index}[0-9]*$`, true])),
  },
  "Unicode properties": { prefixItems: many(4_000, (index) => ({ pattern: `\\p{L}${index}` })) },
  "an enum filtered by a pattern": {
    enum: many(10_000, (index) => `value-${index}`),
    pattern: "^(a|v)*a?[a-z]+-([0-9]|1)*$",
  },
});

/** Nested alternatives that share their parts. */
function doubling(levels: number): object {
  const $defs = Object.fromEntries(
    many(levels, (index) => [
      `d${index}`,
      { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
    ]),
  );
  return { $defs: { ...$defs, [`d${levels}`]: { type: "string" } }, $ref: "#/$defs/d0" };
}

describe("a schema's grammar", () => {
  it.each(Object.entries(expensive))("is written or refused in bounded time: %s", (_name, schema) => {
    const before = process.cpuUsage();
    try {
      schemaRules(schema, false);
    } catch (error) {
      expect(error).toBeInstanceOf(SchemaError);
    }
    const { user } = process.cpuUsage(before);
    expect(user / 1_000).toBeLessThan(cpuMsMax);
  });

  it.each([
    ["many properties", { properties: keyed(4_000, () => ({ type: "string" })) }],
    ["a long enum", { enum: many(20_000, (index) => `v${index}`) }],
    [
      "a union of objects that share properties",
      {
        properties: keyed(30, () => ({ type: "string" })),
        anyOf: many(100, (index) => ({ properties: { kind: { const: `k${index}` } } })),
      },
    ],
    [
      "definitions that are used again and again",
      {
        $defs: keyed(200, () => ({ type: "object", properties: keyed(5, () => ({ type: "integer" })) })),
        prefixItems: many(2_000, (index) => ({ $ref: `#/$defs/k${index % 200}` })),
      },
    ],
  ])("is written of %s", (_name, schema) => {
    expect(schemaRules(schema, true)).toContain("ingle-json ::=");
  });

  it("has one rule for a definition, however references spell it", () => {
    const pointerRules = (pointers: readonly string[]): string =>
      schemaRules({ $defs: { name: { const: "x" } }, prefixItems: pointers.map(($ref) => ({ $ref })) }, true);
    const rules = pointerRules(["#/$defs/name", "#/$defs/n%61me", "#/%24defs/name"]);
    expect(rules).toBe(pointerRules(Array.from({ length: 3 }, () => "#/$defs/name")));
  });

  it("that takes too much work is refused with advice", () => {
    const schema = { allOf: many(2_000, (index) => ({ properties: { [`k${index}`]: true } })) };
    expect(() => schemaRules(schema, false)).toThrow(/too much work: repeat fewer alternatives/);
  });
});
