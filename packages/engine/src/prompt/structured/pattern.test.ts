import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asRegExp } from "../../../test/harness/as-regexp.ts";
import { Gbnf } from "../../../test/harness/gbnf.ts";
import { patternLengthMax, patternRule } from "./pattern.ts";
import { Rules } from "./rules.ts";
import { anyStrings, StringReader, stringRule } from "./string-values.ts";

function matcher(pattern: string): (value: string) => boolean {
  const rules = new Rules();
  const written = stringRule({ ...anyStrings, patterns: [pattern] }, new StringReader(rules));
  const grammar = new Gbnf(rules.text(rules.add(written ?? "")));
  return (value) => written !== undefined && grammar.matches(JSON.stringify(value));
}

describe("a pattern of a whole text", () => {
  it.each([
    String.raw`\d{2}:\d{2}`,
    "^(red|green)$",
    "a|b+",
    String.raw`"[^"\\]*"`,
    ".{1,3}",
    String.raw`(\w+ )*\w+\n?`,
  ])("allows exactly the texts that match it from start to end: %s", (pattern) => {
    const rules = new Rules();
    const written = asRegExp(rules.text(rules.add(patternRule(pattern, rules))));
    const regexp = new RegExp(`^(?:${pattern})$`, "u");
    const letters = fc.constantFrom(...Array.from('ab "\\\n1:é🦆'), "red", "12:30", '"a"');
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 5 }), (parts) => {
        const value = parts.join("");
        expect([value, written.test(value)]).toEqual([value, regexp.test(value)]);
      }),
      { numRuns: 300 },
    );
  });
});

describe("a pattern", () => {
  it.each([
    String.raw`^\d{5}(-\d{4})?$`,
    "^[A-Z][a-z]+$",
    "^(red|green|blue)$",
    String.raw`^[^"\\]*$`,
    "^.*$",
    "b+",
    "^a",
    "z$",
    "^a|b$",
    String.raw`^(?:[\w.-]+)@(?<host>[a-z]+)$`,
    String.raw`^\S+\s\S+$`,
    String.raw`^[\d-]{2,}$`,
    String.raw`^\u0041\x42\u{43}?$`,
    "^a*?b+?$",
    "",
    "^(?=.*[0-9])(?!.*@)[^ ]{2,}$",
    "^(?!red|blue)",
    "a(?=b|$)",
    String.raw`\bred\b`,
    String.raw`^\B.|a\B`,
    "(^a|b)(c|$)",
    String.raw`^\p{Lu}\p{Ll}*$`,
    "a^b",
    "(red|12345)+-?",
  ])("allows exactly the strings that match it: %s", (pattern) => {
    const matches = matcher(pattern);
    const regexp = new RegExp(pattern, "u");
    const letters = fc.constantFrom(
      ...Array.from('ab zAZ019-._@"\\\n\té🦆'),
      "red",
      "blue",
      "12345-6789",
      "x@y",
    );
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 6 }), (parts) => {
        const value = parts.join("");
        expect([value, matches(value)]).toEqual([value, regexp.test(value)]);
      }),
      { numRuns: 300 },
    );
  });

  it.each([String.raw`^(a)\1$`, "(?<=a)b", "((?=a)[ab])*", "(a|$)*", String.raw`\k<a>(?<a>b)`])(
    "that cannot be enforced is told apart: %s",
    (pattern) => {
      expect(() => matcher(pattern)).toThrow(expect.objectContaining({ kind: "cannot_enforce" }));
    },
  );

  it.each([
    "^(a$",
    "^[a$",
    "^a)$",
    "*",
    "x".repeat(patternLengthMax + 1),
    `^${"(".repeat(900)}a${")".repeat(900)}$`,
  ])("that is invalid is refused (%#)", (pattern) => {
    expect(() => matcher(pattern)).toThrow(expect.objectContaining({ kind: "wrong" }));
  });
});
