// How JSON is written: the rules for any value, and for strings, in GBNF. Used by json-schema.ts.
// Only few ways to write a thing are allowed: characters stand for themselves where JSON lets them, and space is short,
// so that a model cannot fill its reply with it.
import type { Rules } from "./rules.ts";

/** Between the parts of objects and arrays: nothing, a blank, or a new line with its indentation. */
const spaceBody = String.raw`(" " | "\n" [ \t]{0,20})?`;

/** Inside a string: a character as it is, or the escape of one that needs it. */
const characterBody = String.raw`[^"\\\x00-\x1F\x7F] | "\\" (["\\bfnrt] | "u00" [01] [0-9a-f])`;

/** Digits of a whole number at most: what fits a number of JavaScript exactly. */
export const digitsMax = 15;

export function space(rules: Rules): string {
  return rules.add(spaceBody);
}

/** One character of a string; each is one of the value's characters. */
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

/** Any value; objects and arrays may hold any others. */
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

/** They call each other, so that they are made together, once. */
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
