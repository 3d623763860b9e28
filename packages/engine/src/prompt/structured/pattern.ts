// What a pattern, a JavaScript regular expression, matches: as a language, and as GBNF where that needs no automaton.
import { inText, type CharacterSet } from "./character-set.ts";
import { buildAutomaton } from "./automaton.ts";
import { automatonRule } from "./automaton-rules.ts";
import { Languages, type Language } from "./language.ts";
import { patternLengthMax, readPattern, unsupported, type PatternNode } from "./pattern-reader.ts";
import { repeated, type Rules } from "./rules.ts";

export { patternLengthMax };

/** How a match is written. */
export interface Spelling {
  /** One character of a set; undefined for the empty set. */
  set: (set: CharacterSet) => string | undefined;
  /** What may precede and follow a match without anchors; undefined if the whole text must match. */
  around: string | undefined;
}

/** GBNF for texts that match as a whole. Throws a SchemaError for an invalid expression, and for one that cannot be enforced. */
export function patternRule(pattern: string, rules: Rules): string {
  const node = readPattern(pattern, rules);
  const direct = directRule(node, { set: inText, around: undefined }, rules);
  if (direct !== undefined) return direct;
  const languages = new Languages(rules);
  const whole = compiled(node, languages.empty, languages);
  const rule = automatonRule(buildAutomaton(whole, languages), inText, rules);
  if (rule === undefined) throw unsupported("no text that matches it");
  return rule;
}

/** The texts of which a part matches. */
export function patternLanguage(node: PatternNode, languages: Languages): Language {
  return languages.concatenation(languages.any, compiled(node, languages.any, languages));
}

/** What a node matches, followed by `rest` up to the end of the text: that is what a lookahead sees. */
function compiled(node: PatternNode, rest: Language, languages: Languages): Language {
  switch (node.kind) {
    case "characters":
      return languages.concatenation(languages.characters(node.set), rest);
    case "sequence":
      return node.items.reduceRight((after, item) => compiled(item, after, languages), rest);
    case "alternatives": {
      if (hasLookahead(node))
        return languages.union(node.options.map((option) => compiled(option, rest, languages)));
      const options = node.options.map((option) => compiled(option, languages.empty, languages));
      return languages.concatenation(languages.union(options), rest);
    }
    case "repeat":
      return languages.concatenation(repetition(node, languages), rest);
    case "assertion":
      return languages.concatenation(languages.assertion(node.what), rest);
    case "lookahead": {
      const seen = compiled(node.body, languages.any, languages);
      return languages.intersection([node.isNegated ? languages.complement(seen) : seen, rest]);
    }
  }
}

function repetition(
  { item, min, max }: Extract<PatternNode, { kind: "repeat" }>,
  languages: Languages,
): Language {
  if (max === 0) return languages.empty;
  if (hasLookahead(item)) throw unsupported("a repeated lookahead");
  const once = compiled(item, languages.empty, languages);
  if (once.place === "anywhere") return languages.repetition(once, min, max);
  if (max !== 1) throw unsupported("a repeated anchor");
  return min === 1 ? once : languages.union([once, languages.empty]);
}

function hasLookahead(node: PatternNode): boolean {
  switch (node.kind) {
    case "lookahead":
      return true;
    case "sequence":
      return node.items.some(hasLookahead);
    case "alternatives":
      return node.options.some(hasLookahead);
    case "repeat":
      return hasLookahead(node.item);
    default:
      return false;
  }
}

/** GBNF for the texts of which a part matches; undefined if that needs an automaton. */
export function directRule(node: PatternNode, spelling: Spelling, rules: Rules): string | undefined {
  const options = node.kind === "alternatives" ? node.options : [node];
  const written: string[] = [];
  for (const option of options) {
    const items = option.kind === "sequence" ? option.items : [option];
    const isBegun = isAnchor(items[0], "begin");
    const isEnded = isAnchor(items.at(-1), "end") && (items.length > 1 || !isBegun);
    const inner = items.slice(isBegun ? 1 : 0, isEnded ? -1 : undefined);
    const parts = inner.map((item) => directly(item, spelling, rules));
    if (!parts.every((part) => part !== undefined)) return undefined;
    const around = spelling.around === undefined ? [] : [spelling.around];
    const all = [...(isBegun ? [] : around), ...parts, ...(isEnded ? [] : around)];
    written.push(all.length === 0 ? '""' : all.join(" "));
  }
  return written.join(" | ");
}

function isAnchor(node: PatternNode | undefined, what: "begin" | "end"): boolean {
  return node?.kind === "assertion" && node.what === what;
}

/** Undefined for what needs an automaton. */
function directly(node: PatternNode, spelling: Spelling, rules: Rules): string | undefined {
  switch (node.kind) {
    case "characters": {
      const written = spelling.set(node.set);
      return written === undefined ? undefined : rules.add(written);
    }
    case "sequence": {
      const items = node.items.map((item) => directly(item, spelling, rules));
      if (!items.every((item) => item !== undefined)) return undefined;
      return items.length === 0 ? '""' : rules.add(items.join(" "));
    }
    case "alternatives": {
      const options = node.options.map((option) => directly(option, spelling, rules));
      return options.every((option) => option !== undefined) ? rules.add(options.join(" | ")) : undefined;
    }
    case "repeat": {
      if (node.max === 0) return '""';
      const item = directly(node.item, spelling, rules);
      return item === undefined ? undefined : repeated(item, node.min, node.max);
    }
    case "assertion":
    case "lookahead":
      return undefined;
  }
}

/** The least and the most characters of a text of which a part matches; infinite if there is no limit. */
export function patternLengths(node: PatternNode): { min: number; max: number } {
  const options = node.kind === "alternatives" ? node.options : [node];
  const lengths = options.map((option) => {
    const items = option.kind === "sequence" ? option.items : [option];
    const isWhole = isAnchor(items[0], "begin") && isAnchor(items.at(-1), "end");
    const { min, max } = innerLengths(option);
    return { min, max: isWhole ? max : Number.POSITIVE_INFINITY };
  });
  return {
    min: Math.min(...lengths.map(({ min }) => min)),
    max: Math.max(...lengths.map(({ max }) => max)),
  };
}

function innerLengths(node: PatternNode): { min: number; max: number } {
  switch (node.kind) {
    case "characters":
      return { min: 1, max: 1 };
    case "sequence": {
      const items = node.items.map(innerLengths);
      return {
        min: items.reduce((sum, { min }) => sum + min, 0),
        max: items.reduce((sum, { max }) => sum + max, 0),
      };
    }
    case "alternatives": {
      const options = node.options.map(innerLengths);
      return {
        min: Math.min(...options.map(({ min }) => min)),
        max: Math.max(...options.map(({ max }) => max)),
      };
    }
    case "repeat": {
      const item = innerLengths(node.item);
      const most = node.max ?? Number.POSITIVE_INFINITY;
      return { min: node.min * item.min, max: item.max === 0 || most === 0 ? 0 : most * item.max };
    }
    case "assertion":
    case "lookahead":
      return { min: 0, max: 0 };
  }
}
