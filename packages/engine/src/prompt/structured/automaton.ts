// Deterministic finite automata of languages, and their intersection with bounds of the length.
import { toCharacterSet, type CharacterSet } from "./character-set.ts";
import { isNullable, toNeighbour, type Language, type Languages, type Neighbour } from "./language.ts";
import { type Rules, SchemaError } from "./rules.ts";

/** Maximum number of states of an automaton: each becomes a rule of the grammar. */
export const statesMax = 3_000;

export interface Edge {
  readonly set: CharacterSet;
  readonly to: number;
}

export interface State {
  /** Whether a text may end here. */
  accepts: boolean;
  edges: readonly Edge[];
  /** If set, the rest of a text is so many characters of a set, and there are no edges. */
  tail?: { set: CharacterSet; min: number; max: number | undefined };
}

/** Every state is reachable from the first, and reaches the end of a text. No states: the empty language. */
export type Automaton = readonly State[];

/** Throws a SchemaError if the automaton is too large. */
export function buildAutomaton(language: Language, languages: Languages): Automaton {
  const places: { language: Language; before: Neighbour }[] = [];
  const numbers = new Map<string, number>();
  const stateNumber = (next: Language, before: Neighbour): number => {
    const key = `${next.id}${next.place === "words" ? before : ""}`;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    if (places.length >= statesMax) throw tooLarge();
    numbers.set(key, places.length);
    places.push({ language: next, before });
    return places.length - 1;
  };
  stateNumber(language, "nothing");
  // Only the first state is at the beginning of a text, and no other one has its number.
  if (language.place !== "anywhere") numbers.clear();
  const states: State[] = [];
  for (const { language: here, before } of places) {
    const targets = new Map<number, CharacterSet>();
    for (const set of languages.firstSets(here)) {
      const character = set[0]?.[0] ?? 0;
      const next = languages.derivative(here, character, before);
      if (next === languages.nothing) continue;
      const to = stateNumber(next, toNeighbour(character));
      const earlier = targets.get(to);
      targets.set(to, earlier === undefined ? set : toCharacterSet([...earlier, ...set]));
    }
    states.push({
      accepts: isNullable(here, before, "nothing"),
      edges: Array.from(targets, ([to, set]) => ({ set, to })),
    });
  }
  return trimmed(states);
}

export function tooLarge(): SchemaError {
  return new SchemaError(
    "cannot_enforce",
    `the string's keywords together need more than ${statesMax} states, which cannot be enforced: simplify the pattern, or shorten the length`,
  );
}

/** Whether a text is in the language. Never takes longer than its length times the size of the expression. */
export function isIn(text: string, language: Language, languages: Languages): boolean {
  let here = language;
  let before: Neighbour = "nothing";
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    here = languages.derivative(here, code, before);
    if (here === languages.nothing) return false;
    before = toNeighbour(code);
  }
  return isNullable(here, before, "nothing");
}

/** Only the texts with `min` to `max` characters. */
export function withLength(
  automaton: Automaton,
  min: number,
  max: number | undefined,
  rules: Rules,
): Automaton {
  const { shortest, longest } = textLengths(automaton);
  const places: { state: number; read: number | undefined }[] = [];
  const numbers = new Map<string, number>();
  const stateNumber = (state: number, read: number): number => {
    const isFree =
      read + (shortest[state] ?? 0) >= min && (max === undefined || read + (longest[state] ?? 0) <= max);
    const counted = max === undefined ? Math.min(read, min) : read;
    const key = isFree ? `${state}` : `${state},${counted}`;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    if (places.length >= statesMax) throw tooLarge();
    numbers.set(key, places.length);
    places.push({ state, read: isFree ? undefined : counted });
    return places.length - 1;
  };
  if (automaton.length > 0) stateNumber(0, 0);
  const states: State[] = [];
  for (const { state, read } of places) {
    const { accepts, edges } = automaton[state] ?? { accepts: false, edges: [] };
    rules.spend(4 + edges.length);
    const [only] = edges;
    if (read !== undefined && accepts && only?.to === state && edges.length === 1) {
      const rest = max === undefined ? undefined : max - read;
      states.push({
        accepts: false,
        edges: [],
        tail: { set: only.set, min: Math.max(0, min - read), max: rest },
      });
      continue;
    }
    const isPossible = (to: number): boolean =>
      read === undefined || max === undefined || read + 1 + (shortest[to] ?? Number.POSITIVE_INFINITY) <= max;
    states.push({
      accepts: accepts && (read === undefined || (read >= min && (max === undefined || read <= max))),
      edges: edges
        .filter(({ to }) => isPossible(to))
        .map(({ set, to }) => ({ set, to: stateNumber(to, read === undefined ? min : read + 1) })),
    });
  }
  return trimmed(states);
}

/** For each state, how many characters may at least and at most follow. */
function textLengths(automaton: Automaton): { shortest: number[]; longest: number[] } {
  const shortest = automaton.map(() => Number.POSITIVE_INFINITY);
  const sources = predecessors(automaton);
  let level = automaton.flatMap(({ accepts }, index) => (accepts ? [index] : []));
  for (let length = 0; level.length > 0; length++) {
    const fresh = level.filter((state) => shortest[state] === Number.POSITIVE_INFINITY);
    for (const state of fresh) shortest[state] = length;
    level = [...new Set(fresh.flatMap((state) => sources[state] ?? []))];
  }
  return { shortest, longest: longestTexts(automaton, sources) };
}

/** States that are on a cycle, or lead to one, have no longest text. */
function longestTexts(automaton: Automaton, sources: readonly (readonly number[])[]): number[] {
  const longest = automaton.map(() => Number.POSITIVE_INFINITY);
  const open = automaton.map(({ edges }) => edges.length);
  const ready = open.flatMap((count, index) => (count === 0 ? [index] : []));
  for (const state of ready) {
    const after = automaton[state]?.edges.map(({ to }) => longest[to] ?? 0) ?? [];
    longest[state] = Math.max(-1, ...after) + 1;
    for (const source of sources[state] ?? []) {
      open[source] = (open[source] ?? 0) - 1;
      if (open[source] === 0) ready.push(source);
    }
  }
  return longest;
}

function predecessors(automaton: Automaton): number[][] {
  const sources: number[][] = automaton.map(() => []);
  for (const [index, { edges }] of automaton.entries()) for (const { to } of edges) sources[to]?.push(index);
  return sources;
}

/** Without the states from which no text ends. */
export function trimmed(states: readonly State[]): Automaton {
  const sources = predecessors(states);
  const alive = new Set(
    states.flatMap(({ accepts, tail }, index) =>
      accepts || (tail !== undefined && tail.min <= (tail.max ?? tail.min)) ? [index] : [],
    ),
  );
  for (const state of alive) for (const source of sources[state] ?? []) alive.add(source);
  if (!alive.has(0)) return [];
  const numbers = new Map([...alive].toSorted((a, b) => a - b).map((state, index) => [state, index]));
  return states
    .filter((_state, index) => alive.has(index))
    .map((state) => ({
      ...state,
      edges: state.edges.flatMap(({ set, to }) => {
        const number = numbers.get(to);
        return number === undefined ? [] : [{ set, to: number }];
      }),
    }));
}
