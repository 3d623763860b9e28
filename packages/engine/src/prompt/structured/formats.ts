// The formats of strings (2020-12, validation, section 7.3) as regular expressions. Each allows only texts that validators accept,
// but not all of them.
import { inJsonString } from "./character-set.ts";
import { directRule } from "./pattern.ts";
import { readPattern } from "./pattern-reader.ts";
import type { Rules } from "./rules.ts";

const upTo28 = "(0[1-9]|1[0-9]|2[0-8])";
const long = `(0[13578]|1[02])-(${upTo28}|29|3[01])`;
const short = `(0[469]|11)-(${upTo28}|29|30)`;
/** Without the 29th of February: a grammar cannot know leap years. */
const date = `[0-9]{4}-(${long}|${short}|02-${upTo28})`;
const hour = "([01][0-9]|2[0-3])";
const time = String.raw`${hour}:[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]${hour}:[0-5][0-9])`;
const byte = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9][0-9]|[0-9])";
const ipv4 = String.raw`${byte}(\.${byte}){3}`;
/** At most 63 characters. */
const label = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const shortLabel = "[A-Za-z0-9]([A-Za-z0-9-]{0,29}[A-Za-z0-9])?";
/** Hyphens as the third and fourth character mark a label that encodes others, such as `xn--nxa`: not every one does. */
const plainLabel = (more: number | ""): string => {
  const [one, inside] = ["[A-Za-z0-9]", "[A-Za-z0-9-]"];
  const rest = more === "" ? `${inside}*` : `${inside}{0,${more}}`;
  return `${one}(${inside}{0,2}${one}|${inside}(${one}${inside}|-${one})${rest}${one})?`;
};
const [long63, long31] = [plainLabel(58), plainLabel(26)];
/** At most 253 characters. */
const hostname = String.raw`(${long63}(\.${long63}){0,2}|${long31}(\.${long31}){3,6})`;

const inPath = String.raw`([A-Za-z0-9._~:@!$&'()*+,;=/-]|%[0-9A-Fa-f]{2})`;
const afterPath = String.raw`(${inPath}|\?)*`;
const host = String.raw`${label}(\.${label}){0,8}(:[0-9]{1,5})?`;
const queryAndFragment = String.raw`(\?${afterPath})?(#${afterPath})?`;
/** Without user names and IPv6 addresses. */
const uri =
  `[A-Za-z][A-Za-z0-9+.-]{0,30}:` +
  `(//${host}(/${inPath}*)?|///${inPath}*|[A-Za-z0-9]${inPath}*)${queryAndFragment}`;
/** No template has one, but URIs do. */
const withoutApostrophe = (source: string): string => source.replaceAll("'", "");
/** A URI, or a path without a colon in its first part. */
const uriReference = String.raw`(${uri}|\.{0,2}/([A-Za-z0-9._~-]${inPath}*)?${queryAndFragment}|[A-Za-z0-9._~-]+(/${inPath}*)?${queryAndFragment}|#${afterPath})`;
const inEmail = "[A-Za-z0-9_+-]";
/** At most 64 characters before the @, and 204 altogether. */
const email = String.raw`${inEmail}{1,31}(\.${inEmail}{1,10}){0,3}@((${label}\.){1,2}|(${shortLabel}\.){3,4})[A-Za-z]{2,12}`;
const hexes = "[0-9a-fA-F]{1,4}";
const ipv6 = `(${[
  `(${hexes}:){7}${hexes}`,
  ...Array.from({ length: 7 }, (_, count) =>
    count === 0
      ? `::(${hexes}(:${hexes}){0,6})?`
      : `(${hexes}:){${count}}:(${hexes}(:${hexes}){0,${6 - count}})?`,
  ),
  `(${hexes}:){6}${ipv4}`,
  `::([fF]{4}:)?${ipv4}`,
].join("|")})`;
const dayTime = "T([0-9]{1,9}H([0-9]{1,9}M([0-9]{1,9}S)?)?|[0-9]{1,9}M([0-9]{1,9}S)?|[0-9]{1,9}S)";
const days = "([0-9]{1,9}Y([0-9]{1,9}M([0-9]{1,9}D)?)?|[0-9]{1,9}M([0-9]{1,9}D)?|[0-9]{1,9}D)";
const duration = `P(${days}(${dayTime})?|${dayTime}|[0-9]{1,9}W)`;
const pointer = "(/([^/~]|~[01])*)*";

const formats: Readonly<Record<string, string>> = {
  date,
  time,
  "date-time": `${date}T${time}`,
  duration,
  uuid: "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
  ipv4,
  ipv6,
  hostname,
  "idn-hostname": hostname,
  uri,
  iri: uri,
  "uri-template": withoutApostrophe(uri),
  "uri-reference": uriReference,
  "iri-reference": uriReference,
  email,
  "idn-email": email,
  "json-pointer": pointer,
  "relative-json-pointer": `(0|[1-9][0-9]{0,8})(#|${pointer})`,
};

/** Forms without counts, for short texts: an automaton has a state for each count. */
const shortForms: Readonly<Record<string, string>> = (() => {
  const part = "[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?";
  const names = String.raw`${part}(\.${part})*`;
  const mail = String.raw`${inEmail}+(\.${inEmail}+)*@(${part}\.)+[A-Za-z][A-Za-z]+`;
  const address = `[A-Za-z][A-Za-z0-9+.-]*:(//${names}(/${inPath}*)?|[A-Za-z0-9]${inPath}*)${queryAndFragment}`;
  const plainNames = String.raw`${plainLabel("")}(\.${plainLabel("")})*`;
  return {
    hostname: plainNames,
    "idn-hostname": plainNames,
    email: mail,
    "idn-email": mail,
    uri: address,
    iri: address,
    "uri-template": withoutApostrophe(address),
  };
})();
/** No part of a short form can be longer than its format allows. */
const shortFormMax = 63;

/** The language of a format beside other keywords: a regular expression, and the length up to which it is right. */
export function formatToCombine(format: string): { source: string; max: number | undefined } {
  const shortForm = shortForms[format];
  return shortForm === undefined
    ? { source: formatSource(format), max: undefined }
    : { source: `^(${shortForm})$`, max: shortFormMax };
}

/** Whether strings of the format are restricted to a regular expression. Formats that JSON Schema does not define restrict nothing. */
export function isEnforcedFormat(format: unknown): format is string {
  return typeof format === "string" && Object.hasOwn(formats, format);
}

/** Whether a format restricts a string in a way that cannot be enforced. */
export function isUnenforcedFormat(format: unknown): boolean {
  return format === "regex";
}

/** The regular expression of an enforced format. */
export function formatSource(format: string): string {
  return `^(${formats[format] ?? ""})$`;
}

/** GBNF for the text between the quotes. */
export function formatRule(format: string, rules: Rules): string | undefined {
  return directRule(
    readPattern(formatSource(format), rules),
    { set: inJsonString, around: undefined },
    rules,
  );
}
