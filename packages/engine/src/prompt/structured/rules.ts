// Collects the rules of a GBNF grammar under unique names, limits the work on them, and caches them.

/** Why a schema cannot be converted to a grammar. `cannot_enforce`: it is valid, but a grammar cannot enforce a part of it. */
type SchemaErrorKind = "wrong" | "cannot_enforce";

export class SchemaError extends Error {
  override readonly name = "SchemaError";
  readonly kind: SchemaErrorKind;

  constructor(kind: SchemaErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** The prefix of rule names, so that they do not clash with those of a surrounding grammar. */
const defaultPrefix = "ingle-";

/**
 * Maximum number of steps for one grammar, about 20 milliseconds in which all requests wait. The largest schema without
 * repetitions needs two thirds of them.
 */
const stepsMax = 120_000;
/** The characters that take as long as one step. */
const charactersPerStep = 16;

export class Rules {
  readonly #prefix: string;
  readonly #bodies = new Map<string, string>();
  /** Names by body: equal rules are written once. */
  readonly #names = new Map<string, string>();
  #length = 0;
  #steps = 0;

  /** Rules that are combined with others need a unique prefix of lowercase letters and dashes. */
  constructor(prefix = defaultPrefix) {
    this.#prefix = prefix;
  }

  /** Adds a rule unless there is one with the same body; returns its name. */
  add(body: string): string {
    const known = this.#names.get(body);
    if (known !== undefined) {
      this.spendOnText(body);
      return known;
    }
    const name = this.reserve();
    this.define(name, body);
    this.#names.set(body, name);
    return name;
  }

  /** Reserves a name for a rule that is defined later, because rules may be recursive. */
  reserve(): string {
    const name = `${this.#prefix}${this.#bodies.size}`;
    this.#bodies.set(name, "");
    return name;
  }

  define(name: string, body: string): void {
    this.spendOnText(body);
    this.#bodies.set(name, body);
    this.#length += name.length + body.length;
  }

  /**
   * Counts work on a schema: each visit of a key, an alternative or a part of a reference. Schemas come from untrusted clients,
   * and a short one may demand the same work over and over. Throws a SchemaError.
   */
  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > stepsMax)
      throw new SchemaError(
        "wrong",
        "the schema takes too much work: repeat fewer alternatives, properties and references",
      );
  }

  /** Counts the work of reading or writing a text. */
  spendOnText(text: string): void {
    this.spend(1 + text.length / charactersPerStep);
  }

  /** Without the work that others took from the same allowance. */
  get steps(): number {
    return this.#steps;
  }

  /** UTF-16 units of all rules so far. */
  get length(): number {
    return this.#length;
  }

  /** The rules as text, one per line. The rule `root` is also available as `rootRule`. */
  text(root: string): string {
    const lines = [...this.#bodies].map(([name, body]) => `${name} ::= ${body}`);
    return [`${rootRule} ::= ${root}`, ...lines, ""].join("\n");
  }
}

/** The name of the first rule. */
const rootRule = `${defaultPrefix}json`;

/** A complete grammar of the rules in `text()`'s form. */
export function completeGrammar(rules: string): string {
  return `root ::= ${rootRule}\n${rules}`;
}

/** Combines two sets of rules in `text()`'s form to their alternative. The second must have another prefix. */
export function eitherRules(first: string, second: string): string {
  const [one, other] = ["one", "other"].map((name) => `${defaultPrefix}${name}`);
  const named = (text: string, name = "") => `${name}${text.slice(rootRule.length)}`;
  return `${rootRule} ::= ${one} | ${other}\n${named(first, one)}${named(second, other)}`;
}

/** A text as a GBNF literal. */
export function literal(text: string): string {
  const escaped = text.replaceAll(/[\\"]/g, String.raw`\$&`).replaceAll(/\p{Cc}/gu, (control) => {
    return String.raw`\x` + (control.codePointAt(0) ?? 0).toString(16).padStart(2, "0").toUpperCase();
  });
  return `"${escaped}"`;
}

/** `item` repeated `min` to `max` times; without a limit if `max` is undefined. */
export function repeated(item: string, min: number, max: number | undefined): string {
  if (min === 0 && max === undefined) return `${item}*`;
  if (min === 1 && max === undefined) return `${item}+`;
  if (min === 0 && max === 1) return `${item}?`;
  return `${item}{${min},${max ?? ""}}`;
}

/** UTF-16 units of all keys and rules: enough for a hundred usual schemas, or a few of the largest. */
const lengthMax = 16 * 1024 * 1024;

/** Least recently used first. */
const kept = new Map<string, string>();
let length = 0;

/** The cached result of `write` for this key, or a new one; `key` must contain everything that the rules depend on. */
export function cachedRules(key: string, write: () => string): string {
  const known = kept.get(key);
  const rules = known ?? write();
  kept.delete(key);
  kept.set(key, rules);
  if (known === undefined) length += key.length + rules.length;
  for (const [oldest, its] of kept) {
    if (length <= lengthMax) break;
    kept.delete(oldest);
    length -= oldest.length + its.length;
  }
  return rules;
}

/** The schema itself is invalid, or too large. */
export function invalidSchema(message: string): SchemaError {
  return new SchemaError("wrong", message);
}

/** The schema is valid, but a part of it cannot be enforced. `message` names the keyword. */
export function cannotEnforce(message: string): SchemaError {
  return new SchemaError("cannot_enforce", `${message}: remove it, or set strict to false`);
}
