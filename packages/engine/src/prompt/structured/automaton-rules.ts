// GBNF for the texts of an automaton.
import type { Automaton } from "./automaton.ts";
import type { CharacterSet } from "./character-set.ts";
import { repeated, type Rules } from "./rules.ts";

/** Nested groups of the grammar: states that follow only one other are written into its rule. */
const nestedMax = 16;

/** `spell` writes one character of a set; undefined if it cannot. Undefined if there are no texts. */
export function automatonRule(
  automaton: Automaton,
  spell: (set: CharacterSet) => string | undefined,
  rules: Rules,
): string | undefined {
  if (automaton.length === 0) return undefined;
  const uses = automaton.map(() => 0);
  for (const { edges } of automaton) for (const { to } of edges) uses[to] = (uses[to] ?? 0) + 1;
  const names = new Map<number, string>();
  const characters = new Map<CharacterSet, string>();
  const character = (set: CharacterSet): string => {
    const known = characters.get(set);
    if (known !== undefined) return known;
    const written = spell(set) ?? "";
    const short = written.includes(" | ") ? rules.add(written) : written;
    characters.set(set, short);
    return short;
  };
  const ruleBody = (state: number, depth: number): string => {
    const { accepts = false, edges = [], tail } = automaton[state] ?? {};
    if (tail !== undefined) return repeated(character(tail.set), tail.min, tail.max);
    const [only] = edges;
    if (accepts && edges.length === 1 && only?.to === state) return `${character(only.set)}*`;
    const options = edges.map(({ set, to }) => {
      const rest = after(to, depth);
      return rest === '""' ? character(set) : `${character(set)} ${rest}`;
    });
    if (accepts) options.push('""');
    return options.join(" | ");
  };
  const after = (to: number, depth: number): string => {
    const isChain = uses[to] === 1 && to !== 0 && depth < nestedMax;
    if (!isChain) return ruleName(to);
    const body = ruleBody(to, depth + 1);
    return body.includes(" | ") ? `(${body})` : body;
  };
  const open: number[] = [];
  const ruleName = (state: number): string => {
    const known = names.get(state);
    if (known !== undefined) return known;
    const name = rules.reserve();
    names.set(state, name);
    open.push(state);
    return name;
  };
  const root = ruleName(0);
  for (const state of open) rules.define(ruleName(state), ruleBody(state, 0));
  return root;
}
