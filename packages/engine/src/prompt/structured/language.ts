// Regular languages as expressions, with intersection and complement, and their derivatives (Brzozowski, "Derivatives of regular
// expressions", 1964): what may follow once a character has been read. Equal expressions are the same object.
import { allCharacters, complement, contains, intersected, type CharacterSet } from "./character-set.ts";
import { word, type Assertion } from "./pattern-reader.ts";
import type { Rules } from "./rules.ts";

interface Common {
  readonly id: number;
  /** What it matches may depend on whether it is at an end of the text, or also on which characters it is next to. */
  readonly place: Place;
}

export type Place = "anywhere" | "ends" | "words";

export type Language = Common &
  (
    | { readonly kind: "nothing" }
    | { readonly kind: "empty" }
    | { readonly kind: "characters"; readonly set: CharacterSet }
    | { readonly kind: "concatenation"; readonly first: Language; readonly rest: Language }
    | { readonly kind: "union" | "intersection"; readonly parts: readonly Language[] }
    | { readonly kind: "complement"; readonly of: Language }
    | {
        readonly kind: "repetition";
        readonly item: Language;
        readonly min: number;
        readonly max: number | undefined;
      }
    | { readonly kind: "assertion"; readonly what: Assertion }
  );

type Composed = Exclude<Language, { kind: "nothing" | "empty" | "characters" | "assertion" }>;

/** What a place in a text is next to. */
export type Neighbour = "nothing" | "word" | "other";

type Kinds = Language extends infer Each ? (Each extends Common ? Omit<Each, keyof Common> : never) : never;

/** Steps to make an expression, and to derive one. */
const stepsPerExpression = 3;

/** Makes expressions. Each is simplified, so that there are finitely many derivatives. */
export class Languages {
  readonly nothing: Language;
  readonly empty: Language;
  /** Every text. */
  readonly any: Language;
  readonly #rules: Rules;
  readonly #known = new Map<string, Language>();
  readonly #firsts = new Map<Language, readonly CharacterSet[]>();
  /** By the numbers of the sets that are split: many expressions begin with the same ones. */
  readonly #partitions = new Map<string, readonly CharacterSet[]>();
  readonly #setNumbers = new Map<CharacterSet, number>();
  /** By the character and what comes before it. */
  readonly #derivatives = new Map<Language, Map<number, Language>>();

  constructor(rules: Rules) {
    this.#rules = rules;
    this.nothing = this.#make("0", { kind: "nothing" }, "anywhere");
    this.empty = this.#make("1", { kind: "empty" }, "anywhere");
    this.any = this.repetition(this.characters(allCharacters), 0, undefined);
  }

  characters(set: CharacterSet): Language {
    if (set.length === 0) return this.nothing;
    return this.#make(`[${set.join(";")}`, { kind: "characters", set }, "anywhere");
  }

  text(text: string): Language {
    let all = this.empty;
    for (const character of Array.from(text).toReversed()) {
      const code = character.codePointAt(0) ?? 0;
      all = this.concatenation(this.characters([[code, code]]), all);
    }
    return all;
  }

  concatenation(first: Language, rest: Language): Language {
    if (first === this.nothing || rest === this.nothing) return this.nothing;
    if (first === this.empty) return rest;
    if (rest === this.empty || (first === this.any && rest === this.any)) return first;
    if (first.kind === "concatenation")
      return this.concatenation(first.first, this.concatenation(first.rest, rest));
    return this.#make(
      `.${first.id},${rest.id}`,
      { kind: "concatenation", first, rest },
      combinedPlace([first, rest]),
    );
  }

  union(parts: readonly Language[]): Language {
    return this.#combined("union", parts, this.nothing, this.any);
  }

  intersection(parts: readonly Language[]): Language {
    return this.#combined("intersection", parts, this.any, this.nothing);
  }

  complement(of: Language): Language {
    if (of.kind === "complement") return of.of;
    if (of === this.nothing) return this.any;
    if (of === this.any) return this.nothing;
    return this.#make(`!${of.id}`, { kind: "complement", of }, of.place);
  }

  repetition(item: Language, min: number, max: number | undefined): Language {
    if (max === 0 || item === this.empty) return this.empty;
    if (item === this.nothing) return min === 0 ? this.empty : this.nothing;
    if (min === 1 && max === 1) return item;
    const least = isNullable(item, "other", "other") ? 0 : min;
    return this.#make(
      `*${item.id},${least},${max ?? ""}`,
      { kind: "repetition", item, min: least, max },
      item.place,
    );
  }

  assertion(what: Assertion): Language {
    const place = what === "begin" || what === "end" ? "ends" : "words";
    return this.#make(`^${what}`, { kind: "assertion", what }, place);
  }

  /** What may follow `character`, which comes after `before`. */
  derivative(language: Language, character: number, before: Neighbour): Language {
    this.#rules.spend(1);
    if (language.kind === "nothing" || language.kind === "empty" || language.kind === "assertion")
      return this.nothing;
    if (language.kind === "characters") return contains(language.set, character) ? this.empty : this.nothing;
    const known = this.#derivatives.get(language) ?? new Map<number, Language>();
    const key = neighbours.length * character + neighbours.indexOf(before);
    const found = known.get(key);
    if (found !== undefined) return found;
    this.#rules.spend(stepsPerExpression);
    const derivative = this.#newDerivative(language, character, before);
    known.set(key, derivative);
    this.#derivatives.set(language, known);
    return derivative;
  }

  #newDerivative(language: Composed, character: number, before: Neighbour): Language {
    const derive = (each: Language): Language => this.derivative(each, character, before);
    switch (language.kind) {
      case "concatenation": {
        const first = this.concatenation(derive(language.first), language.rest);
        if (!isNullable(language.first, before, toNeighbour(character))) return first;
        return this.union([first, derive(language.rest)]);
      }
      case "union":
        return this.union(language.parts.map(derive));
      case "intersection":
        return this.intersection(language.parts.map(derive));
      case "complement":
        return this.complement(derive(language.of));
      case "repetition": {
        const { item, min, max } = language;
        const more = this.repetition(item, Math.max(0, min - 1), max === undefined ? undefined : max - 1);
        return this.concatenation(derive(item), more);
      }
    }
  }

  /** Disjoint sets of all characters; those of one set have the same derivative. */
  firstSets(language: Language): readonly CharacterSet[] {
    const firsts = this.#firstCharacters(language);
    const key = firsts.map((set) => this.#setNumber(set)).join(",");
    this.#rules.spend(1);
    const known = this.#partitions.get(key);
    if (known !== undefined) return known;
    const sets = partition(firsts, this.#rules);
    this.#partitions.set(key, sets);
    return sets;
  }

  #setNumber(set: CharacterSet): number {
    const known = this.#setNumbers.get(set);
    if (known !== undefined) return known;
    this.#setNumbers.set(set, this.#setNumbers.size);
    return this.#setNumbers.size - 1;
  }

  /** Sets of characters; all characters that are in the same ones have the same derivative. */
  #firstCharacters(language: Language): readonly CharacterSet[] {
    const known = this.#firsts.get(language);
    if (known !== undefined) return known;
    const characters = this.#newFirsts(language);
    const all = [...new Set(language.place === "words" ? [...characters, word] : characters)];
    this.#rules.spend(stepsPerExpression * (1 + all.length));
    this.#firsts.set(language, all);
    return all;
  }

  #newFirsts(language: Language): readonly CharacterSet[] {
    switch (language.kind) {
      case "characters":
        return [language.set];
      case "concatenation":
        return mayBeEmpty(language.first)
          ? [...this.#firstCharacters(language.first), ...this.#firstCharacters(language.rest)]
          : this.#firstCharacters(language.first);
      case "union":
      case "intersection":
        return language.parts.flatMap((part) => this.#firstCharacters(part));
      case "complement":
        return this.#firstCharacters(language.of);
      case "repetition":
        return this.#firstCharacters(language.item);
      case "assertion":
      case "nothing":
      case "empty":
        return [];
    }
  }

  /** A union or an intersection: flat, without duplicates, `neutral` or anything beside `absorbing`. */
  #combined(
    kind: "union" | "intersection",
    parts: readonly Language[],
    neutral: Language,
    absorbing: Language,
  ): Language {
    const flat = parts.flatMap((part) => (part.kind === kind ? part.parts : [part]));
    const all = [...new Set(flat)].filter((part) => part !== neutral).toSorted((a, b) => a.id - b.id);
    this.#rules.spend(flat.length);
    if (all.includes(absorbing)) return absorbing;
    const [first] = all;
    if (first === undefined) return neutral;
    if (all.length === 1) return first;
    const ids = all.map(({ id }) => id).join(",");
    return this.#make(`${kind === "union" ? "|" : "&"}${ids}`, { kind, parts: all }, combinedPlace(all));
  }

  #make(key: string, kinds: Kinds, place: Place): Language {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#rules.spend(stepsPerExpression);
    const language: Language = { ...kinds, id: this.#known.size, place };
    this.#known.set(key, language);
    return language;
  }
}

export function toNeighbour(character: number): Neighbour {
  return contains(word, character) ? "word" : "other";
}

/** Whether the empty text between `before` and `after` is in the language. */
export function isNullable(language: Language, before: Neighbour, after: Neighbour): boolean {
  switch (language.kind) {
    case "empty":
      return true;
    case "concatenation":
      return isNullable(language.first, before, after) && isNullable(language.rest, before, after);
    case "union":
      return language.parts.some((part) => isNullable(part, before, after));
    case "intersection":
      return language.parts.every((part) => isNullable(part, before, after));
    case "complement":
      return !isNullable(language.of, before, after);
    case "repetition":
      return language.min === 0 || isNullable(language.item, before, after);
    case "assertion":
      return holds(language.what, before, after);
    case "nothing":
    case "characters":
      return false;
  }
}

function holds(what: Assertion, before: Neighbour, after: Neighbour): boolean {
  if (what === "begin") return before === "nothing";
  if (what === "end") return after === "nothing";
  const isBoundary = (before === "word") !== (after === "word");
  return isBoundary === (what === "boundary");
}

/** Whether the empty text is in the language somewhere. */
function mayBeEmpty(language: Language): boolean {
  if (language.place === "anywhere") return isNullable(language, "other", "other");
  return neighbours.some((before) => neighbours.some((after) => isNullable(language, before, after)));
}

function combinedPlace(languages: readonly Language[]): Place {
  if (languages.some(({ place }) => place === "words")) return "words";
  return languages.some(({ place }) => place === "ends") ? "ends" : "anywhere";
}

const neighbours: readonly Neighbour[] = ["nothing", "word", "other"];

/** The sets split into disjoint ones that cover all characters, each with the same sets around it. */
function partition(sets: readonly CharacterSet[], rules: Rules): CharacterSet[] {
  let parts: CharacterSet[] = [allCharacters];
  for (const set of sets) {
    rules.spend(parts.length * (1 + set.length / 4));
    parts = parts.flatMap((part) => {
      const inside = intersected(part, set);
      if (inside.length === 0) return [part];
      const outside = without(part, inside);
      return outside.length === 0 ? [part] : [inside, outside];
    });
  }
  return parts;
}

function without(set: CharacterSet, removed: CharacterSet): CharacterSet {
  return intersected(set, complement(removed));
}
