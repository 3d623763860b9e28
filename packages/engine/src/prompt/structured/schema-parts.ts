// The subschemas that must hold for one value. Schemas are combined by listing them, not by merging their keywords: there are
// finitely many lists, also where references are recursive.
import { type Rules, invalidSchema } from "./rules.ts";
import { isObject, resolve, type Schema } from "./schema-keywords.ts";

/** A subschema that must hold, or must not. Each exists once. */
export interface Part {
  readonly id: number;
  readonly schema: Schema;
  /** The document that its references point into: the whole schema, or a part with an `$id`. */
  readonly base: unknown;
  readonly isNegated: boolean;
}

/** Sorted by id, without duplicates. Empty: any value. */
export type Conjunction = readonly Part[];

/** No value. */
export const never: Conjunction = [{ id: -1, schema: {}, base: undefined, isNegated: true }];

/** Subschemas; a definition counts once, however often it is used. */
const schemasMax = 5_000;

/** References to references: more are a circle. */
const aliasesMax = 64;
/** Keywords beside `$ref` that restrict nothing. */
const annotations: ReadonlySet<string> = new Set(["$ref", "title", "description", "default", "$comment"]);

export class Parts {
  readonly #rules: Rules;
  readonly #known = new Map<Schema, Part>();
  readonly #negated = new Map<Part, Part>();
  #count = 0;

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  /** Throws a SchemaError if `schema` is no schema. A mere reference is what it points at. */
  of(schema: unknown, base: unknown): Conjunction {
    if (schema === true) return [];
    if (schema === false) return never;
    if (!isObject(schema)) throw invalidSchema("a schema must be an object, or true");
    return isAlias(schema) ? this.#target(schema, base) : [this.#part(schema, base)];
  }

  /** What must hold so that a part does not. */
  not(part: Part): Conjunction {
    if (never.includes(part)) return [];
    if (part.isNegated) return [this.#part(part.schema, part.base)];
    const known = this.#negated.get(part);
    if (known !== undefined) return [known];
    const negated = { ...part, id: part.id + 1, isNegated: true };
    this.#negated.set(part, negated);
    return [negated];
  }

  #target(schema: Schema, base: unknown): Conjunction {
    let at: { target: unknown; base: unknown } = { target: schema, base };
    for (let count = 0; count < aliasesMax; count++) {
      if (!isObject(at.target) || !isAlias(at.target)) return this.of(at.target, at.base);
      at = resolve(at.base, at.target["$ref"], this.#rules, hasOwnBase);
    }
    throw invalidSchema("$ref refers to itself without end");
  }

  #part(schema: Schema, base: unknown): Part {
    const known = this.#known.get(schema);
    if (known !== undefined) return known;
    this.#count += 1;
    if (this.#count > schemasMax) throw invalidSchema("the schema is too large");
    const its = hasOwnBase(schema) ? schema : base;
    const part = { schema, base: its, id: 2 * this.#count, isNegated: false };
    this.#known.set(schema, part);
    return part;
  }
}

function isAlias(schema: Schema): boolean {
  if (schema["$ref"] === undefined) return false;
  return Object.keys(schema).every((key) => annotations.has(key));
}

/** Whether references inside the schema point into it, not into the document around it. */
export function hasOwnBase(schema: Schema): boolean {
  const id = schema["$id"] ?? schema["id"];
  return typeof id === "string" && id !== "" && !id.startsWith("#");
}

export function allOf(one: Conjunction, other: Conjunction): Conjunction {
  if (one.length === 0 || other === never) return other;
  if (other.length === 0 || one === never) return one;
  const all = [...new Set([...one, ...other])].toSorted((a, b) => a.id - b.id);
  const isContradictory = all.some((part, index) => part.isNegated && all[index - 1]?.id === part.id - 1);
  return isContradictory ? never : all;
}

export function conjunctionKey(conjunction: Conjunction): string {
  return conjunction.map(({ id }) => id).join(",");
}
