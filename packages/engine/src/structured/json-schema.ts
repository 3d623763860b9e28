// A JSON schema as a grammar that writes nothing but values of it. Used by Model, for structured output. Whoever writes
// a schema may be a stranger: its depth and size are bounded. Where a schema leaves a choice, the grammar may be
// narrower than the schema (an object has no properties but those that are named), but never wider, except for the
// keywords in schema-keywords.ts, which are refused when `strict` asks for every word of the schema.
import { formatOf } from "./formats.ts";
import {
  anyArray,
  anyBoolean,
  anyInteger,
  anyNumber,
  anyObject,
  anyString,
  anyValue,
  character,
  space,
} from "./json-text.ts";
import { integersWithin, numbersWithin } from "./number-range.ts";
import { jsonMembers, membersRule, type Member } from "./object-members.ts";
import { stringMatching } from "./pattern.ts";
import { literal, repeated, Rules } from "./rules.ts";
import { SchemaError } from "./schema-error.ts";
import {
  cannotEnforce,
  countOf,
  isObject,
  merged,
  namedProperties,
  numberBounds,
  resolve,
  typeOf,
  unenforcedKeyword,
  wrong,
  type Schema,
} from "./schema-keywords.ts";

/** Schemas inside schemas: reading them recurses. */
const depthMax = 64;
/** Schemas within a schema, each use of a definition counted once. */
const schemasMax = 5_000;
/** UTF-16 units of the grammar that is made. */
const grammarLengthMax = 1024 * 1024;
/** Rules for a value of the schema; the name of the first is `rootRule`. Throws a SchemaError. */
export function schemaRules(schema: unknown, isStrict: boolean): string {
  const rules = new Rules();
  return rules.text(schemaRule(schema, isStrict, rules));
}

/** The name of a rule for a value of the schema, among others. Throws a SchemaError. */
export function schemaRule(schema: unknown, isStrict: boolean, rules: Rules): string {
  return new SchemaWriter(schema, isStrict, rules).write();
}

/** The named properties of an object's schema, with rules for their values. Throws a SchemaError. */
export function schemaMembers(schema: Schema, rules: Rules): Member[] {
  return new SchemaWriter(schema, false, rules).members();
}

/** Rules for any JSON object. */
export function jsonObjectRules(): string {
  const rules = new Rules();
  return rules.text(anyObject(rules));
}

class SchemaWriter {
  readonly #root: unknown;
  readonly #isStrict: boolean;
  readonly #rules: Rules;
  /** Names of the rules of definitions, by what is defined: references may spell it in many ways. */
  readonly #references = new Map<unknown, string>();
  #schemas = 0;
  #depth = 0;

  constructor(root: unknown, isStrict: boolean, rules: Rules) {
    this.#root = root;
    this.#isStrict = isStrict;
    this.#rules = rules;
  }

  write(): string {
    return this.#rule(this.#root);
  }

  members(): Member[] {
    return isObject(this.#root) ? this.#members(this.#root) : [];
  }

  /** The name of a rule for a value of the schema. */
  #rule(schema: unknown): string {
    this.#schemas += 1;
    this.#depth += 1;
    if (this.#schemas > schemasMax || this.#rules.length > grammarLengthMax)
      throw wrong("the schema is too large");
    if (this.#depth > depthMax) throw wrong("the schema is nested too deeply");
    const name = this.#rules.add(this.#expression(schema));
    this.#depth -= 1;
    return name;
  }

  #expression(schema: unknown): string {
    if (schema === true) return anyValue(this.#rules);
    if (!isObject(schema)) throw wrong("a schema must be an object, or true");
    this.#rules.spend(Object.keys(schema).length);
    this.#refuseUnenforced(schema);
    if (schema["$ref"] !== undefined) return this.#reference(schema["$ref"]);
    const alternatives = schema["anyOf"] ?? schema["oneOf"];
    if (alternatives !== undefined) return this.#anyOf(schema, alternatives);
    if (schema["allOf"] !== undefined) return this.#allOf(schema, schema["allOf"]);
    if (schema["const"] !== undefined) return literal(JSON.stringify(schema["const"]));
    if (schema["enum"] !== undefined) return this.#enum(schema["enum"]);
    const type = typeOf(schema);
    if (Array.isArray(type))
      return this.#either(
        type.map((each: unknown) => merged([schema, { type: each }], this.#rules)),
        "type",
      );
    return this.#typed(type, schema);
  }

  #typed(type: unknown, schema: Schema): string {
    switch (type) {
      case undefined:
        return anyValue(this.#rules);
      case "object":
        return this.#object(schema);
      case "array":
        return this.#array(schema);
      case "string":
        return this.#string(schema);
      case "integer":
      case "number":
        return this.#number(type, schema);
      case "boolean":
        return anyBoolean(this.#rules);
      case "null":
        return '"null"';
      default:
        throw wrong(`the type ${JSON.stringify(type)} is not known`);
    }
  }

  #refuseUnenforced(schema: Schema): void {
    if (!this.#isStrict) return;
    const keyword = unenforcedKeyword(schema);
    if (keyword !== undefined)
      throw cannotEnforce(`${keyword} cannot be enforced: leave it out, or do not ask for strict`);
  }

  /** A definition has one rule however often it is used, also by itself. */
  #reference(reference: unknown): string {
    if (typeof reference !== "string" || !/^#(?:\/|$)/.test(reference)) {
      throw wrong("$ref must point into the schema itself, such as #/$defs/name");
    }
    const target = resolve(this.#root, reference, this.#rules);
    const known = this.#references.get(target);
    if (known !== undefined) return known;
    const name = this.#rules.reserve();
    this.#references.set(target, name);
    this.#rules.define(name, this.#rule(target));
    return name;
  }

  #anyOf(schema: Schema, alternatives: unknown): string {
    const { anyOf: _anyOf, oneOf: _oneOf, ...shared } = schema;
    if (!Array.isArray(alternatives)) throw wrong("anyOf and oneOf must be arrays");
    return this.#either(
      alternatives.map((each: unknown) => merged([shared, each], this.#rules)),
      "anyOf and oneOf",
    );
  }

  #either(schemas: readonly unknown[], keyword: string): string {
    if (schemas.length === 0) throw wrong(`${keyword} must not be empty`);
    return schemas.map((schema) => this.#rule(schema)).join(" | ");
  }

  #allOf(schema: Schema, parts: unknown): string {
    if (!Array.isArray(parts)) throw wrong("allOf must be an array");
    const { allOf: _allOf, ...rest } = schema;
    const all = parts.map((part: unknown) => this.#followed(part));
    return this.#rule(merged([rest, ...all], this.#rules));
  }

  /** A schema that is nothing but a reference, as what it points at; once, so that circles stay outside. */
  #followed(schema: unknown): unknown {
    const reference = isObject(schema) ? schema["$ref"] : undefined;
    return typeof reference === "string" && reference.startsWith("#")
      ? resolve(this.#root, reference, this.#rules)
      : schema;
  }

  #enum(values: unknown): string {
    if (!Array.isArray(values) || values.length === 0) throw wrong("enum must be an array with values");
    this.#rules.spend(values.length);
    return values.map((value: unknown) => literal(JSON.stringify(value))).join(" | ");
  }

  #object(schema: Schema): string {
    const members = this.#members(schema);
    if (members.length === 0) return this.#map(schema);
    this.#refuseCounts(schema);
    return membersRule(members, this.#rules, jsonMembers(this.#rules));
  }

  #members(schema: Schema): Member[] {
    return namedProperties(schema, this.#rules).map(({ name, schema: value, isRequired }) => ({
      name,
      rule: this.#rule(value),
      isRequired,
    }));
  }

  /** Which of the named properties are there is their own matter; how many cannot be counted beside it. */
  #refuseCounts(schema: Schema): void {
    for (const keyword of ["minProperties", "maxProperties"]) {
      if (this.#isStrict && schema[keyword] !== undefined)
        throw cannotEnforce(
          `${keyword} cannot be enforced beside properties: leave it out, or do not ask for strict`,
        );
    }
  }

  /** An object whose keys are not known before. */
  #map(schema: Schema): string {
    const gap = space(this.#rules);
    const values = schema["additionalProperties"] ?? true;
    if (values === false) return `"{" ${gap} "}"`;
    const member = this.#rules.add(`${anyString(this.#rules)} ":" ${gap} ${this.#rule(values)}`);
    const list = this.#list(member, countOf(schema, "minProperties") ?? 0, countOf(schema, "maxProperties"));
    return `"{" ${gap} ${list} ${gap} "}"`;
  }

  #array(schema: Schema): string {
    const gap = space(this.#rules);
    const first = schema["prefixItems"] ?? (Array.isArray(schema["items"]) ? schema["items"] : undefined);
    if (first !== undefined && !Array.isArray(first)) throw wrong("prefixItems must be an array");
    if (first !== undefined) {
      const items = first.map((item: unknown) => this.#rule(item)).join(` "," ${gap} `);
      return `"[" ${gap} ${items} ${gap} "]"`;
    }
    const min = countOf(schema, "minItems") ?? 0;
    const max = countOf(schema, "maxItems");
    if (schema["items"] === undefined && min === 0 && max === undefined) return anyArray(this.#rules);
    if (schema["items"] === false) return `"[" ${gap} "]"`;
    return `"[" ${gap} ${this.#list(this.#rule(schema["items"] ?? true), min, max)} ${gap} "]"`;
  }

  /** Items with commas between them. */
  #list(item: string, min: number, max: number | undefined): string {
    if (max !== undefined && max < min) throw wrong("a most is less than its least");
    if (max === 0) return "";
    const next = this.#rules.add(`"," ${space(this.#rules)} ${item}`);
    const list = `${item} ${repeated(next, Math.max(0, min - 1), max === undefined ? undefined : max - 1)}`;
    return min === 0 ? `(${list})?` : list;
  }

  #string(schema: Schema): string {
    const min = countOf(schema, "minLength");
    const max = countOf(schema, "maxLength");
    if (max !== undefined && max < (min ?? 0)) throw wrong("maxLength is less than minLength");
    const format = formatOf(schema["format"]);
    try {
      if (typeof schema["pattern"] === "string")
        return this.#alone(stringMatching(schema["pattern"], this.#rules), min, max);
    } catch (error) {
      // Patterns beside a format say the same again, in words that grammars do not have.
      const isNeedless =
        error instanceof SchemaError &&
        error.kind === "cannot_enforce" &&
        (format !== undefined || !this.#isStrict);
      if (!isNeedless) throw error;
    }
    if (format !== undefined) return String.raw`"\"" ${format} "\""`;
    if (min === undefined && max === undefined) return anyString(this.#rules);
    return String.raw`"\"" ${repeated(character(this.#rules), min ?? 0, max)} "\""`;
  }

  /** A pattern decides the length; both together cannot be held to. */
  #alone(expression: string, min: number | undefined, max: number | undefined): string {
    if (this.#isStrict && (min !== undefined || max !== undefined))
      throw cannotEnforce(
        "minLength and maxLength cannot be enforced beside pattern: say the length in the pattern",
      );
    return expression;
  }

  #number(type: "integer" | "number", schema: Schema): string {
    const { min, max } = numberBounds(schema);
    if (min === undefined && max === undefined)
      return type === "integer" ? anyInteger(this.#rules) : anyNumber(this.#rules);
    const within = type === "integer" ? integersWithin({ min, max }) : numbersWithin({ min, max });
    if (within === undefined) throw wrong("no number is within minimum and maximum");
    return within;
  }
}
