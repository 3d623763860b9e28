// Converts a JSON schema to a grammar that generates only matching values, for structured output. Schemas come from untrusted
// clients: their depth, their size and the work on them are bounded. The grammar may be narrower than the schema (an object has
// only its named properties), but with `strict` never wider: what cannot be enforced is refused.
import { argumentRules, type Argument, type ArgumentWriter, type PlainSyntax } from "./argument-rules.ts";
import { arrayRule } from "./array-rules.ts";
import { anyObject, anyBoolean, anyValue } from "./json-text.ts";
import { Inhabitants } from "./inhabitants.ts";
import { numberRule } from "./number-values.ts";
import type { Member } from "./object-members.ts";
import { namedMembers, objectRule } from "./object-rules.ts";
import { Rules, SchemaError, cannotEnforce, invalidSchema } from "./rules.ts";
import type { Schema } from "./schema-keywords.ts";
import { conjunctionKey, never, type Conjunction } from "./schema-parts.ts";
import { SchemaReader } from "./schema-reader.ts";
import { anyStrings, stringRule, type StringValues } from "./string-values.ts";
import { aboutOnly, everything, type ValueSet } from "./value-set.ts";

/** Nested schemas: writing them recurses. */
const depthMax = 64;
/** UTF-16 units of the grammar. */
const grammarLengthMax = 1024 * 1024;

/** Returns rules for a value of the schema; the first is named `rootRule`. Throws a SchemaError. */
export function schemaRules(schema: unknown, isStrict: boolean): string {
  const rules = new Rules();
  return rules.text(schemaRule(schema, isStrict, rules));
}

/** Adds rules for a value of the schema to `rules`, and returns the name of the first. Throws a SchemaError. */
export function schemaRule(schema: unknown, isStrict: boolean, rules: Rules): string {
  return new SchemaWriter(schema, isStrict, rules).write();
}

/** The named properties of an object's schema, with rules for their values, for each alternative. Throws a SchemaError. */
export function schemaMembers(schema: Schema, isStrict: boolean, rules: Rules): Member[][] {
  return new SchemaWriter(schema, isStrict, rules).members();
}

/** The named properties of an object's schema, whose strings are written as they are. Throws a SchemaError. */
export function schemaArguments(
  schema: Schema,
  isStrict: boolean,
  syntax: PlainSyntax,
  rules: Rules,
): Argument[] {
  return new SchemaWriter(schema, isStrict, rules).arguments(syntax);
}

/** Rules for any JSON object. */
export function jsonObjectRules(): string {
  const rules = new Rules();
  return rules.text(anyObject(rules));
}

class SchemaWriter implements ArgumentWriter {
  readonly rules: Rules;
  readonly reader: SchemaReader;
  readonly #isStrict: boolean;
  readonly #root: Conjunction;
  /** Rules by what they write. Only recursive ones have a name before they are written. */
  readonly #written = new Map<string, { name?: string; isOpen: boolean }>();
  readonly #inhabitants: Inhabitants;
  #depth = 0;

  constructor(root: unknown, isStrict: boolean, rules: Rules) {
    this.rules = rules;
    this.#isStrict = isStrict;
    this.reader = new SchemaReader(isStrict, rules);
    this.#inhabitants = new Inhabitants(this.reader);
    this.#root = this.reader.parts.of(root, root);
    if (this.#root === never) throw invalidSchema("a schema must be an object, or true");
  }

  write(): string {
    const rule = this.rule(this.#root);
    if (rule === undefined)
      throw invalidSchema("no value is valid for the schema: its keywords contradict each other");
    return rule;
  }

  members(): Member[][] {
    const { objects } = this.reader.set(this.#root);
    if (this.#isStrict && objects.some((set) => set.min > 0 || set.max !== undefined))
      throw cannotEnforce(
        "minProperties and maxProperties cannot be enforced in the syntax of the model's calls",
      );
    const members = objects.map((set) => namedMembers(set, this)).filter((each) => each !== undefined);
    return members.length === 0 ? [[]] : members;
  }

  arguments(syntax: PlainSyntax): Argument[] {
    const { objects } = this.reader.set(this.#root);
    if (this.#isStrict && (objects.length > 1 || objects.some((set) => set.min > 0 || set.max !== undefined)))
      throw cannotEnforce("alternatives and counts of arguments cannot be enforced one by one");
    return argumentRules(objects, syntax, this);
  }

  values(set: ValueSet): string | undefined {
    return this.#alternatives(set);
  }

  rule(value: Conjunction): string | undefined {
    if (value === never) return undefined;
    const key = conjunctionKey(value);
    const known = this.#written.get(key);
    if (known === undefined && !this.#inhabitants.has(value)) return undefined;
    if (known !== undefined) {
      if (known.isOpen) known.name ??= this.rules.reserve();
      return known.name;
    }
    if (this.rules.length > grammarLengthMax) throw invalidSchema("the schema is too large");
    this.#depth += 1;
    if (this.#depth > depthMax) throw invalidSchema("the schema is nested too deeply");
    const entry: { name?: string; isOpen: boolean } = { isOpen: true };
    this.#written.set(key, entry);
    const body = this.#alternatives(this.reader.set(value));
    entry.isOpen = false;
    this.#depth -= 1;
    if (body === undefined) return undefined;
    if (entry.name === undefined) entry.name = this.rules.add(body);
    else this.rules.define(entry.name, body);
    return entry.name;
  }

  #alternatives(set: ValueSet): string | undefined {
    const chosen = aboutOnly(set);
    if (chosen === everything) return anyValue(this.rules);
    const options = [
      ...chosen.objects.map((each) => objectRule(each, this)),
      ...chosen.arrays.map((each) => arrayRule(each, this)),
      ...chosen.strings.map((each) => this.#string(each)),
      ...chosen.numbers.map((each) =>
        this.relaxed(
          () => numberRule(each, this.rules),
          () => numberRule({ ...each, multiples: [], noMultiples: [] }, this.rules),
        ),
      ),
      ...(chosen.booleans.length === 2
        ? [anyBoolean(this.rules)]
        : chosen.booleans.map((value) => `"${value}"`)),
      ...(chosen.hasNull ? ['"null"'] : []),
    ];
    const possible = [...new Set(options.filter((option) => option !== undefined))];
    return possible.length === 0 ? undefined : possible.join(" | ");
  }

  #string(set: StringValues): string | undefined {
    const { reader } = this;
    return this.relaxed(
      () => stringRule(set, reader.strings),
      () =>
        this.relaxed(
          () => stringRule({ ...set, min: 0, max: undefined }, reader.strings),
          () => stringRule({ ...anyStrings, formats: set.formats.slice(0, 1) }, reader.strings),
        ),
    );
  }

  /** Unless strict, `otherwise` replaces what cannot be enforced. */
  relaxed<Result>(write: () => Result, otherwise: () => Result): Result {
    try {
      return write();
    } catch (error) {
      if (this.#isStrict || !(error instanceof SchemaError) || error.kind !== "cannot_enforce") throw error;
      return otherwise();
    }
  }
}
