// Sets of strings by the keywords that restrict them: how they intersect, what one lacks of another, and their GBNF.
import { buildAutomaton, isIn, withLength, type Automaton } from "./automaton.ts";
import { automatonRule } from "./automaton-rules.ts";
import { inJsonString, inText } from "./character-set.ts";
import { formatRule, formatSource, formatToCombine } from "./formats.ts";
import { anyString, character } from "./json-text.ts";
import { Languages, type Language } from "./language.ts";
import { directRule, patternLanguage, patternLengths } from "./pattern.ts";
import { readPattern, type PatternNode } from "./pattern-reader.ts";
import { literal, repeated, type Rules } from "./rules.ts";

/** A string is in it if it satisfies all. */
export interface StringValues {
  /** The only strings, if given. */
  readonly values?: readonly string[];
  readonly excluded: readonly string[];
  readonly min: number;
  readonly max: number | undefined;
  /** Regular expressions of which a part matches, and of which none does. */
  readonly patterns: readonly string[];
  readonly noPatterns: readonly string[];
  readonly formats: readonly string[];
}

export const anyStrings: StringValues = {
  excluded: [],
  min: 0,
  max: undefined,
  patterns: [],
  noPatterns: [],
  formats: [],
};

/** Reads patterns and compiles languages, each once. */
export class StringReader {
  readonly languages: Languages;
  readonly rules: Rules;
  readonly #nodes = new Map<string, PatternNode>();
  readonly #languages = new Map<string, Language>();
  /** What was written for sets of strings. */
  readonly written = new Map<string, string>();

  constructor(rules: Rules) {
    this.rules = rules;
    this.languages = new Languages(rules);
  }

  node(pattern: string): PatternNode {
    return cached(this.#nodes, pattern, () => readPattern(pattern, this.rules));
  }

  pattern(pattern: string): Language {
    return cached(this.#languages, pattern, () => patternLanguage(this.node(pattern), this.languages));
  }

  matches(text: string, pattern: string): boolean {
    return isIn(text, this.pattern(pattern), this.languages);
  }

  /** Whether a string is in a set. */
  admits(set: StringValues, text: string): boolean {
    const length = Array.from(text).length;
    return (
      length >= set.min &&
      (set.max === undefined || length <= set.max) &&
      !set.excluded.includes(text) &&
      (set.values?.includes(text) ?? true) &&
      set.patterns.every((pattern) => this.matches(text, pattern)) &&
      set.noPatterns.every((pattern) => !this.matches(text, pattern)) &&
      set.formats.every((format) => this.matches(text, formatSource(format)))
    );
  }
}

function cached<Value>(known: Map<string, Value>, key: string, make: () => Value): Value {
  const before = known.get(key);
  if (before !== undefined) return before;
  const value = make();
  known.set(key, value);
  return value;
}

/** Undefined if it has no strings; the strings of others may also turn out to be none. */
export function commonStrings(
  one: StringValues,
  other: StringValues,
  reader: StringReader,
): StringValues | undefined {
  if (one === anyStrings) return other;
  if (other === anyStrings) return one;
  const common: StringValues = {
    excluded: both(one.excluded, other.excluded),
    min: Math.max(one.min, other.min),
    max: lesser(one.max, other.max),
    patterns: both(one.patterns, other.patterns),
    noPatterns: both(one.noPatterns, other.noPatterns),
    formats: both(one.formats, other.formats),
  };
  if (common.max !== undefined && common.min > common.max) return undefined;
  const values = one.values ?? other.values;
  if (values === undefined) return common;
  const others = new Set(other.values ?? values);
  const left = values.filter((value) => others.has(value) && reader.admits(common, value));
  reader.rules.spend(values.length);
  return left.length === 0 ? undefined : { ...anyStrings, values: left };
}

/** The strings of `one` that are not in `other`, as sets; undefined if they cannot be told. */
export function stringsWithout(
  one: StringValues,
  other: StringValues,
  reader: StringReader,
): StringValues[] | undefined {
  if (other.values !== undefined)
    return some([commonStrings(one, { ...anyStrings, excluded: other.values }, reader)]);
  // Strings of a format are a part of all that validators accept, so what is outside may be valid for them.
  if (other.formats.length > 0) return undefined;
  const outside: StringValues[] = [
    ...(other.min > 0 ? [{ ...anyStrings, max: other.min - 1 }] : []),
    ...(other.max === undefined ? [] : [{ ...anyStrings, min: other.max + 1 }]),
    ...other.patterns.map((pattern) => ({ ...anyStrings, noPatterns: [pattern] })),
    ...other.noPatterns.map((pattern) => ({ ...anyStrings, patterns: [pattern] })),
    ...(other.excluded.length > 0 ? [{ ...anyStrings, values: other.excluded }] : []),
  ];
  return some(outside.map((each) => commonStrings(one, each, reader)));
}

function some<Value>(values: readonly (Value | undefined)[]): Value[] {
  return values.filter((value) => value !== undefined);
}

function both(one: readonly string[], other: readonly string[]): readonly string[] {
  if (other.length === 0) return one;
  return one.length === 0 ? other : [...new Set([...one, ...other])];
}

export function lesser(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

/** GBNF for the strings as JSON; undefined if there are none. Throws a SchemaError if an automaton is too large. */
export function stringRule(set: StringValues, reader: StringReader): string | undefined {
  const { rules } = reader;
  if (set === anyStrings) return anyString(rules);
  if (set.values !== undefined) {
    rules.spend(set.values.length);
    return set.values.map((value) => literal(JSON.stringify(value))).join(" | ");
  }
  const key = JSON.stringify(set);
  rules.spendOnText(key);
  const known = reader.written.get(key);
  if (known !== undefined) return known;
  const text = directText(set, reader) ?? automatonText(set, reader);
  if (text === undefined) return undefined;
  const rule = rules.add(String.raw`"\"" (${text}) "\""`);
  reader.written.set(key, rule);
  return rule;
}

/** GBNF without an automaton: for a length, a format or a pattern alone. */
function directText(set: StringValues, reader: StringReader): string | undefined {
  const { rules } = reader;
  const isCounted = set.min > 0 || set.max !== undefined;
  if (set.excluded.length + set.noPatterns.length > 0 || set.patterns.length + set.formats.length > 1)
    return undefined;
  const [format] = set.formats;
  if (format !== undefined) {
    const isImplied = set.patterns.length === 0 && isWithin(reader.node(formatSource(format)), set);
    return isImplied ? formatRule(format, rules) : undefined;
  }
  const [pattern] = set.patterns;
  if (pattern === undefined)
    return isCounted ? repeated(character(rules), set.min, set.max) : `${character(rules)}*`;
  const node = reader.node(pattern);
  if (isWithin(node, set))
    return directRule(node, { set: inJsonString, around: `${character(rules)}*` }, rules);
  return countedText(node, set, rules);
}

/** Whether all texts that match have a length that the set allows. */
function isWithin(node: PatternNode, set: StringValues): boolean {
  const { min, max } = patternLengths(node);
  return min >= set.min && max <= (set.max ?? Number.POSITIVE_INFINITY);
}

/** A pattern that repeats one set of characters from begin to end is counted. */
function countedText(node: PatternNode, set: StringValues, rules: Rules): string | undefined {
  if (node.kind !== "sequence" || node.items.length !== 3) return undefined;
  const [begin, repeat, end] = node.items;
  const isWhole =
    begin?.kind === "assertion" && begin.what === "begin" && end?.kind === "assertion" && end.what === "end";
  if (!isWhole || repeat?.kind !== "repeat" || repeat.item.kind !== "characters") return undefined;
  const written = inJsonString(repeat.item.set);
  const [min, max] = [Math.max(repeat.min, set.min), lesser(repeat.max, set.max)];
  if (written === undefined || (max !== undefined && max < min)) return undefined;
  return max === 0 ? '""' : repeated(rules.add(written), min, max);
}

/**
 * GBNF for the strings as they are, up to `end`, which follows; undefined if there are none. Throws a SchemaError if an automaton is too
 * large.
 */
export function plainStringRule(
  set: StringValues,
  within: PlainStrings,
  reader: StringReader,
): string | undefined {
  const { rules } = reader;
  const outside = misreadStrings(within, reader);
  if (set.values !== undefined) {
    rules.spend(set.values.length);
    const values = set.values.filter(
      (value) => !value.includes("\0") && !isIn(value, outside, reader.languages),
    );
    return values.length === 0 ? undefined : values.map((value) => literal(value)).join(" | ");
  }
  const key = JSON.stringify([set, within]);
  rules.spendOnText(key);
  const known = reader.written.get(key);
  if (known !== undefined) return known;
  const inside = reader.languages.complement(outside);
  const rule = automatonRule(stringAutomaton(set, reader, [inside]), inText, rules);
  if (rule !== undefined) reader.written.set(key, rule);
  return rule;
}

/** Where strings are written as they are. */
interface PlainStrings {
  /** What follows a string. */
  readonly end: string;
  /** Types other than string: what can be read as JSON of them is not a string. */
  readonly jsonTypes: readonly string[];
}

/** The strings that are read as something else. */
function misreadStrings({ end, jsonTypes }: PlainStrings, reader: StringReader): Language {
  const { languages } = reader;
  const { any } = languages;
  const join = (parts: readonly Language[]): Language =>
    parts.reduceRight((rest, each) => languages.concatenation(each, rest), languages.empty);
  const all = [join([any, languages.text(end), any])];
  const characters = Array.from(end);
  // A string whose last characters are the first ones of its end, which would then begin in the string.
  for (const at of characters.keys()) {
    const [before, after] = [characters.slice(0, at), characters.slice(at)].map((each) => each.join(""));
    if (at > 0 && after !== undefined && end.startsWith(after))
      all.push(join([any, languages.text(before ?? "")]));
  }
  if (jsonTypes.length > 0) all.push(reader.pattern(likeJson(jsonTypes)));
  return languages.union(all);
}

/** A pattern for every text that is JSON of these types, and for some that are none. */
function likeJson(types: readonly string[]): string {
  const has = (type: string, pattern: string): string[] => (types.includes(type) ? [pattern] : []);
  const begins = [...has("object", String.raw`\{`), ...has("array", String.raw`\[`)];
  const words = [
    ...has("number", String.raw`-?[0-9][0-9.eE+\-]*`),
    ...has("boolean", "true|false"),
    ...has("null", "null"),
  ].map((word) => String.raw`(?:${word})\s*$`);
  return String.raw`^\s*(?:${[...begins, ...words].join("|")})`;
}

function automatonText(set: StringValues, reader: StringReader): string | undefined {
  return automatonRule(stringAutomaton(set, reader), inJsonString, reader.rules);
}

function stringAutomaton(set: StringValues, reader: StringReader, more: readonly Language[] = []): Automaton {
  const { languages, rules } = reader;
  const formats = set.formats.map(formatToCombine);
  const max = formats.reduce<number | undefined>((least, each) => lesser(least, each.max), set.max);
  const all = [
    ...more,
    ...set.patterns.map((pattern) => reader.pattern(pattern)),
    ...formats.map(({ source }) => reader.pattern(source)),
    ...set.noPatterns.map((pattern) => languages.complement(reader.pattern(pattern))),
  ];
  if (set.excluded.length > 0)
    all.push(languages.complement(languages.union(set.excluded.map((text) => languages.text(text)))));
  const automaton = buildAutomaton(languages.intersection(all), languages);
  return set.min === 0 && max === undefined ? automaton : withLength(automaton, set.min, max, rules);
}
