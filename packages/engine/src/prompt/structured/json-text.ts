// GBNF for any JSON value. It allows few spellings of a value: characters are escaped only where JSON requires it, and
// whitespace is short, so that a model cannot fill its reply with it.
import type { Rules } from "./rules.ts";

/** Between the parts of objects and arrays: nothing, a space, or a new line with indentation. */
const spaceBody = String.raw`(" " | "\n" [ \t]{0,20})?`;

/** Inside a string: a plain character, or an escape if one is required. */
const characterBody = String.raw`[^"\\\x00-\x1F\x7F] | "\\" (["\\bfnrt] | "u00" [01] [0-9a-f])`;

/** Maximum number of digits in an integer: JavaScript numbers hold any integer of this length exactly. */
export const digitsMax = 15;

export function space(rules: Rules): string {
  return rules.add(spaceBody);
}

/** One character of a string's value. */
export function character(rules: Rules): string {
  return rules.add(characterBody);
}

export function anyString(rules: Rules): string {
  return rules.add(String.raw`"\"" ${character(rules)}* "\""`);
}

export function anyInteger(rules: Rules): string {
  return rules.add(`"-"? ("0" | [1-9] [0-9]{0,${digitsMax - 1}})`);
}

export function anyNumber(rules: Rules): string {
  return rules.add(`${anyInteger(rules)} ("." [0-9]{1,${digitsMax}})? ([eE] [-+]? [1-9] [0-9]?)?`);
}

export function anyBoolean(rules: Rules): string {
  return rules.add(`"true" | "false"`);
}

/** Any value, with any nested values. */
export function anyValue(rules: Rules): string {
  return containers(rules).value;
}

export function anyObject(rules: Rules): string {
  return containers(rules).object;
}

export function anyArray(rules: Rules): string {
  return containers(rules).array;
}

const made = new WeakMap<Rules, { value: string; object: string; array: string }>();

/** The rules reference each other, so they are made together, once. */
function containers(rules: Rules): { value: string; object: string; array: string } {
  const known = made.get(rules);
  if (known !== undefined) return known;
  const names = { value: rules.reserve(), object: rules.reserve(), array: rules.reserve() };
  made.set(rules, names);
  const gap = space(rules);
  const member = rules.add(`${anyString(rules)} ":" ${gap} ${names.value}`);
  rules.define(names.object, `"{" ${gap} (${member} ("," ${gap} ${member})*)? ${gap} "}"`);
  rules.define(names.array, `"[" ${gap} (${names.value} ("," ${gap} ${names.value})*)? ${gap} "]"`);
  const simple = `${anyString(rules)} | ${anyNumber(rules)} | ${anyBoolean(rules)} | "null"`;
  rules.define(names.value, `${names.object} | ${names.array} | ${simple}`);
  return names;
}
