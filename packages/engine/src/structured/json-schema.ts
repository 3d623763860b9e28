// Converts a JSON schema to a grammar that generates only matching values, for structured output. Schemas come from untrusted
// clients: their depth and size are bounded. The grammar may be narrower than the schema (an object has only its named
// properties), but not wider, except for the unenforced keywords of schema-keywords.ts, which `strict` refuses.
import {
  formatOf,
  isUnenforcedFormat,
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
import { literal, repeated, Rules, SchemaError } from "./rules.ts";
import {
  cannotEnforce,
  countOf,
  isObject,
  isOfType,
  merged,
  namedProperties,
  numberBounds,
  resolve,
  typeOf,
  unenforcedKeyword,
  wrong,
  type Schema,
} from "./schema-keywords.ts";

/** Nested schemas: reading them recurses. */
const depthMax = 64;
/** Subschemas; a definition counts once, however often it is used. */
const schemasMax = 5_000;
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
  /** Rule names by referenced schema, because references may spell a path in several ways. */
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
    if (schema["enum"] !== undefined) return this.#enum(schema["enum"], schema["type"]);
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
        throw wrong(`unknown type ${JSON.stringify(type)}`);
    }
  }

  #refuseUnenforced(schema: Schema): void {
    if (!this.#isStrict) return;
    const keyword = unenforcedKeyword(schema);
    if (keyword !== undefined)
      throw cannotEnforce(`${keyword} cannot be enforced: remove it, or set strict to false`);
  }

  /** A definition has one rule, however often it is used, also recursively. */
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

  /** Follows a reference, but only once, so that circular ones end. */
  #followed(schema: unknown): unknown {
    const reference = isObject(schema) ? schema["$ref"] : undefined;
    return typeof reference === "string" && reference.startsWith("#")
      ? resolve(this.#root, reference, this.#rules)
      : schema;
  }

  #enum(values: unknown, type: unknown): string {
    if (!Array.isArray(values) || values.length === 0) throw wrong("enum must be a non-empty array");
    this.#rules.spend(values.length);
    if (this.#isStrict && type !== undefined && !values.every((value) => isOfType(value, type)))
      throw cannotEnforce("enum has values that are not of the type: remove them, or set strict to false");
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

  /** A grammar cannot count the named properties that are present. */
  #refuseCounts(schema: Schema): void {
    for (const keyword of ["minProperties", "maxProperties"]) {
      if (this.#isStrict && schema[keyword] !== undefined)
        throw cannotEnforce(
          `${keyword} cannot be enforced together with properties: remove it, or set strict to false`,
        );
    }
  }

  /** An object with any keys. */
  #map(schema: Schema): string {
    const gap = space(this.#rules);
    const values = schema["additionalProperties"] ?? true;
    if (values === false) return `"{" ${gap} "}"`;
    const member = this.#rules.add(`${anyString(this.#rules)} ":" ${gap} ${this.#rule(values)}`);
    const list = this.#list(member, schema, "Properties");
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
    const isAny = (countOf(schema, "minItems") ?? 0) === 0 && countOf(schema, "maxItems") === undefined;
    if (schema["items"] === undefined && isAny) return anyArray(this.#rules);
    if (schema["items"] === false) return `"[" ${gap} "]"`;
    return `"[" ${gap} ${this.#list(this.#rule(schema["items"] ?? true), schema, "Items")} ${gap} "]"`;
  }

  /** Items separated by commas, as many as `min…` and `max…` of the schema allow. */
  #list(item: string, schema: Schema, counted: "Items" | "Properties"): string {
    const min = countOf(schema, `min${counted}`) ?? 0;
    const max = countOf(schema, `max${counted}`);
    if (max !== undefined && max < min) throw wrong(`max${counted} is less than min${counted}`);
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
    if (this.#isStrict && isUnenforcedFormat(schema["format"]))
      throw cannotEnforce(
        `the format ${String(schema["format"])} cannot be enforced: remove it, or set strict to false`,
      );
    try {
      if (typeof schema["pattern"] === "string")
        return this.#alone(stringMatching(schema["pattern"], this.#rules), min, max);
    } catch (error) {
      // A pattern next to a format usually repeats it, with constructs that grammars do not have.
      const isRedundant =
        error instanceof SchemaError &&
        error.kind === "cannot_enforce" &&
        (format !== undefined || !this.#isStrict);
      if (!isRedundant) throw error;
    }
    if (format !== undefined) return String.raw`"\"" ${format} "\""`;
    if (min === undefined && max === undefined) return anyString(this.#rules);
    return String.raw`"\"" ${repeated(character(this.#rules), min ?? 0, max)} "\""`;
  }

  /** A grammar cannot enforce a pattern and a length together. */
  #alone(expression: string, min: number | undefined, max: number | undefined): string {
    if (this.#isStrict && (min !== undefined || max !== undefined))
      throw cannotEnforce(
        "minLength and maxLength cannot be enforced together with pattern: put the length into the pattern",
      );
    return expression;
  }

  #number(type: "integer" | "number", schema: Schema): string {
    const { min, max } = numberBounds(schema);
    if (min === undefined && max === undefined)
      return type === "integer" ? anyInteger(this.#rules) : anyNumber(this.#rules);
    const within = type === "integer" ? integersWithin({ min, max }) : numbersWithin({ min, max });
    if (within === undefined) throw wrong("no number is between minimum and maximum");
    return within;
  }
}
