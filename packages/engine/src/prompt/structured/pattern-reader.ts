// Reads a JavaScript regular expression without lookbehind and backreferences into a tree.
import {
  allCharacters,
  complement,
  intersected,
  toCharacterSet,
  type CharacterSet,
  type Range,
} from "./character-set.ts";
import { type Rules, SchemaError } from "./rules.ts";

/** In UTF-16 units. */
export const patternLengthMax = 2_000;
/** Nested groups: reading them recurses. */
const depthMax = 50;
/** Each character may be a class, whose complement is written out. */
const stepsPerCharacter = 16;
/** Looking up the characters of a Unicode property takes a few milliseconds. */
const stepsPerProperty = 20_000;
/** Characters with a Unicode property are looked up among these only: the others are a few hundred times as many. */
const basicCharacters: CharacterSet = intersected(allCharacters, [[0, 0xff_ff]]);

export type Assertion = "begin" | "end" | "boundary" | "inside";

export type PatternNode =
  | { kind: "characters"; set: CharacterSet }
  | { kind: "sequence"; items: readonly PatternNode[] }
  | { kind: "alternatives"; options: readonly PatternNode[] }
  | { kind: "repeat"; item: PatternNode; min: number; max: number | undefined }
  | { kind: "assertion"; what: Assertion }
  | { kind: "lookahead"; body: PatternNode; isNegated: boolean };

/** Throws a SchemaError for an invalid regular expression, and for one that no automaton can express. */
export function readPattern(pattern: string, rules: Rules): PatternNode {
  if (pattern.length > patternLengthMax)
    throw new SchemaError("wrong", `pattern must have at most ${patternLengthMax} characters`);
  rules.spend(stepsPerCharacter * pattern.length);
  return new PatternReader(pattern, isUnicodePattern(pattern), rules).read();
}

/**
 * Whether the pattern is valid with the flag `u`. Many patterns have unnecessary escapes, with which it is not: what they match
 * beyond U+FFFF depends on the flag, so there they match nothing.
 */
function isUnicodePattern(pattern: string): boolean {
  try {
    void new RegExp(pattern, "u"); // only validates it
    return true;
  } catch (cause) {
    if (isLooselyValid(pattern)) return false;
    throw new SchemaError("wrong", `pattern is not a valid regular expression: ${String(cause)}`);
  }
}

function isLooselyValid(pattern: string): boolean {
  try {
    void new RegExp(pattern);
    return true;
  } catch {
    return false;
  }
}

const digit: CharacterSet = [[0x30, 0x39]];
export const word = toCharacterSet([
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
]);
const blank = toCharacterSet([
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
const lineEnd = toCharacterSet([
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

class PatternReader {
  readonly #characters: readonly string[];
  readonly #isUnicode: boolean;
  readonly #rules: Rules;
  #allowed: CharacterSet;
  #at = 0;
  #depth = 0;

  constructor(pattern: string, isUnicode: boolean, rules: Rules) {
    this.#characters = Array.from(pattern); // by code points, like the flag `u`
    this.#isUnicode = isUnicode;
    this.#rules = rules;
    this.#allowed = isUnicode && !/\\p/i.test(pattern) ? allCharacters : basicCharacters;
    if (!isUnicode && /[\u{10000}-\u{10ffff}]|\\u[dD][89a-fA-F]/u.test(pattern))
      throw unsupported("characters beyond U+FFFF and escapes that the flag u forbids");
  }

  read(): PatternNode {
    const node = this.#alternatives();
    if (this.#at < this.#characters.length) throw unsupported("an unmatched )");
    return node;
  }

  #peek(ahead = 0): string {
    return this.#characters[this.#at + ahead] ?? "";
  }

  #take(expected: string): boolean {
    if (this.#peek() !== expected) return false;
    this.#at += 1;
    return true;
  }

  #alternatives(): PatternNode {
    const first = this.#sequence();
    const options = [first];
    while (this.#take("|")) options.push(this.#sequence());
    return options.length === 1 ? first : { kind: "alternatives", options };
  }

  #sequence(): PatternNode {
    const items: PatternNode[] = [];
    while (this.#peek() !== "" && this.#peek() !== "|" && this.#peek() !== ")")
      items.push(this.#quantified(this.#atom()));
    const [only] = items;
    return only !== undefined && items.length === 1 ? only : { kind: "sequence", items };
  }

  #atom(): PatternNode {
    if (this.#take("(")) return this.#group();
    if (this.#take("[")) return this.#characterSet(this.#characterClass());
    if (this.#take(".")) return this.#characterSet(complement(lineEnd));
    if (this.#take("^")) return { kind: "assertion", what: "begin" };
    if (this.#take("$")) return { kind: "assertion", what: "end" };
    if (this.#peek() === "\\" && (this.#peek(1) === "b" || this.#peek(1) === "B")) {
      this.#at += 2;
      return { kind: "assertion", what: this.#peek(-1) === "b" ? "boundary" : "inside" };
    }
    return this.#characterSet(this.#single(false));
  }

  #characterSet(set: CharacterSet): PatternNode {
    return { kind: "characters", set: intersected(set, this.#allowed) };
  }

  #group(): PatternNode {
    const look = this.#groupKind();
    this.#depth += 1;
    if (this.#depth > depthMax)
      throw new SchemaError("wrong", `pattern has more than ${depthMax} nested groups`);
    const body = this.#alternatives();
    this.#depth -= 1;
    this.#take(")");
    return look === undefined ? body : { kind: "lookahead", body, isNegated: look === "!" };
  }

  /** "=" or "!" for a lookahead. */
  #groupKind(): "=" | "!" | undefined {
    if (!this.#take("?") || this.#take(":")) return undefined;
    if (this.#take("=")) return "=";
    if (this.#take("!")) return "!";
    const isNamed = this.#peek() === "<" && this.#peek(1) !== "=" && this.#peek(1) !== "!";
    if (!isNamed) throw unsupported("a lookbehind or flags");
    this.#at = this.#characters.indexOf(">", this.#at) + 1;
    return undefined;
  }

  #quantified(item: PatternNode): PatternNode {
    const [min, max] = this.#quantifier();
    if (min === 1 && max === 1) return item;
    this.#take("?"); // a lazy quantifier matches the same texts
    return { kind: "repeat", item, min, max };
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
    const set = toCharacterSet(ranges);
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
    if (escape === "0" && /\d/.test(this.#peek())) throw unsupported("an octal escape");
    const control = controls[escape];
    if (control !== undefined) return one(control);
    if (escape === "x") return one(this.#hexadecimal(2));
    if (escape === "u") return one(this.#unicode());
    if (escape === "b" && isInClass) return one(0x08);
    if ((escape === "p" || escape === "P") && this.#isUnicode) return this.#property(escape);
    if (/[a-zA-Z1-9]/.test(escape) || escape === "") throw unsupported(`the escape \\${escape}`);
    return one(escape.codePointAt(0) ?? 0);
  }

  /** The characters of a property such as `\p{L}`, as far as they are looked up. */
  #property(escape: "p" | "P"): CharacterSet {
    const end = this.#characters.indexOf("}", this.#at);
    const name = this.#characters.slice(this.#at, end + 1).join("");
    this.#at = end + 1;
    this.#rules.spend(stepsPerProperty);
    const property = new RegExp(`\\${escape}${name}`, "u");
    const ranges: Range[] = [];
    for (let character = 0; character <= 0xff_ff; character++) {
      if (property.test(String.fromCharCode(character))) ranges.push([character, character]);
    }
    return toCharacterSet(ranges);
  }

  /** With the flag `u`, two escapes of surrogates are one character. */
  #unicode(): number {
    if (this.#take("{")) {
      if (!this.#isUnicode) throw unsupported("an escape that the flag u forbids");
      const end = this.#characters.indexOf("}", this.#at);
      const value = this.#hexadecimal(end - this.#at);
      this.#take("}");
      return value;
    }
    const high = this.#hexadecimal(4);
    const pair = /^\\u(d[c-f][\da-f]{2})$/i.exec(this.#characters.slice(this.#at, this.#at + 6).join(""));
    if (high < 0xd8_00 || high > 0xdb_ff || pair === null) return high;
    this.#at += 6;
    return 0x1_00_00 + ((high - 0xd8_00) << 10) + (Number.parseInt(pair[1] ?? "", 16) - 0xdc_00);
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

export function unsupported(what: string): SchemaError {
  return new SchemaError("cannot_enforce", `pattern has ${what}, which cannot be enforced`);
}
