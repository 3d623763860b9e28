// GBNF for texts that match a JavaScript regular expression without lookarounds and backreferences: the JSON strings of a schema's
// `pattern`, and whole replies.
import { complement, inJsonString, inText, setOf, type CharacterSet, type Range } from "./character-set.ts";
import { character } from "./json-text.ts";
import { repeated, type Rules, SchemaError } from "./rules.ts";

/** In UTF-16 units. */
export const patternLengthMax = 2_000;
/** Nested groups: reading them recurses. */
const depthMax = 50;
/** Each character may be a class, whose complement is written out. */
const stepsPerCharacter = 16;

/** JSON strings of which a part matches. Throws a SchemaError for an invalid regular expression, and for one that a grammar cannot express. */
export function stringMatching(pattern: string, rules: Rules): string {
  checkPattern(pattern, rules);
  const written = new PatternReader(pattern, rules, {
    set: inJsonString,
    around: `${character(rules)}*`,
  }).read();
  return String.raw`"\"" (${written}) "\""`;
}

/** Texts that match as a whole. Throws what `stringMatching` throws. */
export function textMatching(pattern: string, rules: Rules): string {
  checkPattern(pattern, rules);
  return new PatternReader(pattern, rules, { set: inText, around: undefined }).read();
}

function checkPattern(pattern: string, rules: Rules): void {
  if (pattern.length > patternLengthMax) {
    throw new SchemaError("wrong", `pattern must have at most ${patternLengthMax} characters`);
  }
  rules.spend(stepsPerCharacter * pattern.length);
  try {
    void new RegExp(pattern, "u"); // only validates it
  } catch (cause) {
    if (!isLooselyValid(pattern))
      throw new SchemaError("wrong", `pattern is not a valid regular expression: ${String(cause)}`);
  }
}

/** Without the `u` flag, which refuses the unnecessary escapes of many patterns. */
function isLooselyValid(pattern: string): boolean {
  try {
    void new RegExp(pattern);
    return true;
  } catch {
    return false;
  }
}

const digit: CharacterSet = [[0x30, 0x39]];
const word = setOf([
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
]);
const blank = setOf([
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x16_80, 0x16_80],
  [0x20_00, 0x20_0a],
  [0x20_28, 0x20_29],
  [0x20_2f, 0x20_2f],
  [0x20_5f, 0x20_5f],
  [0x30_00, 0x30_00],
  [0xfe_ff, 0xfe_ff],
]);
const lineEnd = setOf([
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x20_28, 0x20_29],
]);

const classes: Readonly<Record<string, CharacterSet>> = {
  d: digit,
  D: complement(digit),
  w: word,
  W: complement(word),
  s: blank,
  S: complement(blank),
};

const controls: Readonly<Record<string, number>> = { t: 0x09, n: 0x0a, v: 0x0b, f: 0x0c, r: 0x0d, "0": 0x00 };

/** How a match is written. */
interface Spelling {
  /** One character of a set; undefined for the empty set. */
  set: (set: CharacterSet) => string | undefined;
  /** What may precede and follow a match without anchors; undefined if the whole text must match. */
  around: string | undefined;
}

class PatternReader {
  readonly #spelling: Spelling;
  readonly #characters: readonly string[];
  readonly #rules: Rules;
  #at = 0;
  #depth = 0;

  constructor(pattern: string, rules: Rules, spelling: Spelling) {
    this.#spelling = spelling;
    this.#characters = Array.from(pattern); // by code points, like the flag `u`
    this.#rules = rules;
  }

  read(): string {
    const expression = this.#alternatives();
    if (this.#at < this.#characters.length) throw unsupported("an unmatched )");
    return expression;
  }

  #peek(ahead = 0): string {
    return this.#characters[this.#at + ahead] ?? "";
  }

  #take(expected: string): boolean {
    if (this.#peek() !== expected) return false;
    this.#at += 1;
    return true;
  }

  #alternatives(): string {
    const expressions = [this.#sequence()];
    while (this.#take("|")) expressions.push(this.#sequence());
    return expressions.join(" | ");
  }

  /** At the outer level, what the spelling allows may precede and follow unless there is an anchor. */
  #sequence(): string {
    const isOuter = this.#depth === 0;
    const around = this.#spelling.around === undefined ? [] : [this.#spelling.around];
    const items: string[] = [];
    if (isOuter && !this.#take("^")) items.push(...around);
    while (this.#peek() !== "" && this.#peek() !== "|" && this.#peek() !== ")") {
      if (isOuter && this.#peek() === "$" && ["", "|"].includes(this.#peek(1))) break;
      items.push(this.#quantified(this.#atom()));
    }
    if (isOuter && !this.#take("$")) items.push(...around);
    return items.length === 0 ? '""' : items.join(" ");
  }

  #atom(): string {
    if (this.#take("(")) return this.#group();
    if (this.#take("[")) return this.#oneOf(this.#characterClass());
    if (this.#take(".")) return this.#oneOf(complement(lineEnd));
    if (this.#peek() === "^" || this.#peek() === "$") throw unsupported("an anchor in the middle");
    return this.#oneOf(this.#single(false));
  }

  #group(): string {
    if (this.#take("?")) {
      const isNamed = this.#peek() === "<" && this.#peek(1) !== "=" && this.#peek(1) !== "!";
      if (isNamed) this.#at = this.#characters.indexOf(">", this.#at) + 1;
      else if (!this.#take(":")) throw unsupported("a lookaround");
    }
    this.#depth += 1;
    if (this.#depth > depthMax)
      throw new SchemaError("wrong", `pattern has more than ${depthMax} nested groups`);
    const expression = this.#alternatives();
    this.#depth -= 1;
    this.#take(")");
    return this.#rules.add(expression);
  }

  #oneOf(set: CharacterSet): string {
    const expression = this.#spelling.set(set);
    if (expression === undefined) throw unsupported("an empty character class");
    return this.#rules.add(expression);
  }

  #quantified(item: string): string {
    const [min, max] = this.#quantifier();
    if (min === 1 && max === 1) return item;
    this.#take("?"); // a lazy quantifier matches the same texts
    return max === 0 ? '""' : repeated(item, min, max);
  }

  #quantifier(): [min: number, max: number | undefined] {
    if (this.#take("*")) return [0, undefined];
    if (this.#take("+")) return [1, undefined];
    if (this.#take("?")) return [0, 1];
    const counts = /^\{(\d{1,9})(,(\d{0,9}))?\}/.exec(
      this.#characters.slice(this.#at, this.#at + 24).join(""),
    );
    if (counts === null) return [1, 1];
    this.#at += counts[0].length;
    const min = Number(counts[1]);
    if (counts[2] === undefined) return [min, min];
    return [min, counts[3] === "" || counts[3] === undefined ? undefined : Number(counts[3])];
  }

  #characterClass(): CharacterSet {
    const isNegated = this.#take("^");
    const ranges: Range[] = [];
    while (!this.#take("]")) {
      if (this.#peek() === "") throw new SchemaError("wrong", "pattern has an unmatched [");
      const first = this.#single(true);
      const isRange = this.#peek() === "-" && this.#peek(1) !== "]" && isOne(first);
      if (!isRange) {
        ranges.push(...first);
        continue;
      }
      this.#take("-");
      const last = this.#single(true);
      if (isOne(last)) ranges.push([first[0][0], last[0][1]]);
      else ranges.push(...first, [0x2d, 0x2d], ...last);
    }
    const set = setOf(ranges);
    return isNegated ? complement(set) : set;
  }

  /** One character, or the class of an escape. */
  #single(isInClass: boolean): CharacterSet {
    const here = this.#peek();
    this.#at += 1;
    if (here !== "\\") return one(here.codePointAt(0) ?? 0);
    const escape = this.#peek();
    this.#at += 1;
    const known = classes[escape];
    if (known !== undefined) return known;
    const control = controls[escape];
    if (control !== undefined) return one(control);
    if (escape === "x") return one(this.#hexadecimal(2));
    if (escape === "u") return one(this.#unicode());
    if (escape === "b" && isInClass) return one(0x08);
    if (/[a-zA-Z1-9]/.test(escape) || escape === "") throw unsupported(`the escape \\${escape}`);
    return one(escape.codePointAt(0) ?? 0);
  }

  #unicode(): number {
    if (!this.#take("{")) return this.#hexadecimal(4);
    const end = this.#characters.indexOf("}", this.#at);
    const value = this.#hexadecimal(end - this.#at);
    this.#take("}");
    return value;
  }

  #hexadecimal(digits: number): number {
    const text = this.#characters.slice(this.#at, this.#at + digits).join("");
    if (!/^[\da-fA-F]{1,6}$/.test(text)) throw unsupported("an incomplete escape");
    this.#at += digits;
    return Math.min(Number.parseInt(text, 16), 0x10_ff_ff);
  }
}

function one(codePoint: number): CharacterSet {
  return [[codePoint, codePoint]];
}

function isOne(set: CharacterSet): set is readonly [Range] {
  return set.length === 1 && set[0]?.[0] === set[0]?.[1];
}

function unsupported(what: string): SchemaError {
  return new SchemaError("cannot_enforce", `pattern has ${what}, which a grammar cannot express`);
}
