// GBNF for a string's `format`. Formats that are missing here are annotations only, as JSON Schema allows.

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

const formats: Readonly<Record<string, string>> = {
  date,
  time,
  "date-time": `${date} "T" ${time}`,
  uuid: ["8", "4", "4", "4", "12"].map((count) => `${hexadecimal}{${count}}`).join(` "-" `),
  ipv4: `${byte} ("." ${byte}){3}`,
  hostname: `${label} ("." ${label}){0,8}`,
  email: `[A-Za-z0-9_+-] [A-Za-z0-9_+-]{0,30} ("." [A-Za-z0-9_+-]{1,30}){0,3} "@" (${label} "."){1,4} [A-Za-z]{2,12}`,
};

/** GBNF for the text between the quotes; undefined for other formats. */
export function formatOf(format: unknown): string | undefined {
  return typeof format === "string" && Object.hasOwn(formats, format) ? formats[format] : undefined;
}
