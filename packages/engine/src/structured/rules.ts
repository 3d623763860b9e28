// Collects the rules of a GBNF grammar under names of their own, and counts the work on them. Used by json-schema.ts and
// what writes parts for it.
import { SchemaError } from "./schema-error.ts";

/** Before every rule's name, so that none is met in a grammar that these rules are put into. */
const defaultPrefix = "ingle-";

/**
 * Steps that may be spent on one grammar: everybody waits for it, and all of them take some 20 milliseconds. The largest
 * schema that has each part once takes two thirds of them.
 */
const stepsMax = 120_000;
/** Characters that are written in the time of one step. */
const charactersPerStep = 16;

export class Rules {
  readonly #prefix: string;
  readonly #bodies = new Map<string, string>();
  /** Names by body: what is the same is written once. */
  readonly #names = new Map<string, string>();
  #length = 0;
  #steps = 0;

  /** Rules that stand beside others need a prefix of their own: lowercase letters and dashes. */
  constructor(prefix = defaultPrefix) {
    this.#prefix = prefix;
  }

  /** Adds a rule, or finds one with the same body; returns its name. */
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

  /** A name whose rule comes later: rules may call each other in circles. */
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
   * Counts work on a schema: every key, alternative and part of a reference that is looked at, each time. Schemas come from
   * strangers, and a short one may say that the same is to be done over and over. Throws a SchemaError.
   */
  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > stepsMax)
      throw new SchemaError(
        "wrong",
        "the schema takes too much work: repeat fewer alternatives, properties and references",
      );
  }

  /** The same for a text that is read or written. */
  spendOnText(text: string): void {
    this.spend(1 + text.length / charactersPerStep);
  }

  /** UTF-16 units of all rules so far. */
  get length(): number {
    return this.#length;
  }

  /** The rules as text, one a line. `root` gets the name that `rootRule` says. */
  text(root: string): string {
    const lines = [...this.#bodies].map(([name, body]) => `${name} ::= ${body}`);
    return [`${rootRule} ::= ${root}`, ...lines, ""].join("\n");
  }
}

/** The name of the rule for a whole value. */
export const rootRule = `${defaultPrefix}json`;

/** A grammar whose texts are those of the rules, which `text()` gave. */
export function wholeGrammarOf(rules: string): string {
  return `root ::= ${rootRule}\n${rules}`;
}

/** Rules as `text()` gives them for texts that either of the two has; the rules of the second have another prefix. */
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

/** `item` from `min` to `max` times; no `max` is no limit. */
export function repeated(item: string, min: number, max: number | undefined): string {
  if (min === 0 && max === undefined) return `${item}*`;
  if (min === 1 && max === undefined) return `${item}+`;
  if (min === 0 && max === 1) return `${item}?`;
  return `${item}{${min},${max ?? ""}}`;
}
