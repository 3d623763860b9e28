// GBNF for any JSON value, and for strings of a `format`. It allows few spellings of a value: characters are escaped only where JSON requires it, and
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

const upTo28 = `"0" [1-9] | "1" [0-9] | "2" [0-8]`;
const long = `("0" [13578] | "1" [02]) "-" (${upTo28} | "29" | "3" [01])`;
const short = `("0" [469] | "11") "-" (${upTo28} | "29" | "30")`;
/** Without the 29th of February: a grammar cannot know leap years. */
const date = `[0-9]{4} "-" (${long} | ${short} | "02-" (${upTo28}))`;
const hour = `([01] [0-9] | "2" [0-3])`;
const sixty = `[0-5] [0-9]`;
const time = `${hour} ":" ${sixty} ":" ${sixty} ("." [0-9]{1,9})? ("Z" | [-+] ${hour} ":" ${sixty})`;
const hexadecimal = `[0-9a-f]`;
const byte = `("25" [0-5] | "2" [0-4] [0-9] | "1" [0-9]{2} | [1-9] [0-9] | [0-9])`;
const label = `[A-Za-z0-9] ([A-Za-z0-9-]{0,61} [A-Za-z0-9])?`;

const inPath = String.raw`[A-Za-z0-9._~:@!$&'()*+,;=/-] | "%" [0-9A-Fa-f]{2}`;
const afterPath = `(${inPath} | "?")*`;
const host = `${label} ("." ${label}){0,8} (":" [0-9]{1,5})?`;
/** Without user names and IPv6 addresses. */
const uri =
  `[A-Za-z] [A-Za-z0-9+.-]{0,30} ":" ` +
  `("//" ${host} ("/" (${inPath})*)? | "///" (${inPath})* | [A-Za-z0-9] (${inPath})*) ` +
  `("?" ${afterPath})? ("#" ${afterPath})?`;

const formats: Readonly<Record<string, string>> = {
  date,
  time,
  "date-time": `${date} "T" ${time}`,
  uuid: ["8", "4", "4", "4", "12"].map((count) => `${hexadecimal}{${count}}`).join(` "-" `),
  ipv4: `${byte} ("." ${byte}){3}`,
  hostname: `${label} ("." ${label}){0,8}`,
  uri,
  email: `[A-Za-z0-9_+-] [A-Za-z0-9_+-]{0,30} ("." [A-Za-z0-9_+-]{1,30}){0,3} "@" (${label} "."){1,4} [A-Za-z]{2,12}`,
};

/** The other formats of JSON Schema (2020-12, validation, section 7.3). Formats that it does not define restrict nothing. */
const unenforcedFormats: ReadonlySet<unknown> = new Set([
  "duration",
  "idn-email",
  "idn-hostname",
  "ipv6",
  "iri",
  "iri-reference",
  "json-pointer",
  "regex",
  "relative-json-pointer",
  "uri-reference",
  "uri-template",
]);

/** Whether a format restricts a text in a way that no grammar here enforces. */
export function isUnenforcedFormat(format: unknown): boolean {
  return unenforcedFormats.has(format);
}

/** GBNF for the text between the quotes; undefined for other formats. */
export function formatOf(format: unknown): string | undefined {
  return typeof format === "string" && Object.hasOwn(formats, format) ? formats[format] : undefined;
}
