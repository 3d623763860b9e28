// Decodes HTML character references in Markdown, such as `&amp;`.

/** The names that models use. Others are not decoded. */
const names: Readonly<Record<string, string>> = {
  amp: "&",
  apos: "'",
  copy: "©",
  deg: "°",
  euro: "€",
  ge: "≥",
  gt: ">",
  hellip: "…",
  infin: "∞",
  laquo: "«",
  larr: "←",
  ldquo: "“",
  le: "≤",
  lsquo: "‘",
  lt: "<",
  mdash: "—",
  middot: "·",
  minus: "−",
  nbsp: "\u00a0",
  ndash: "–",
  ne: "≠",
  para: "¶",
  plusmn: "±",
  quot: '"',
  raquo: "»",
  rarr: "→",
  rdquo: "”",
  reg: "®",
  rsquo: "’",
  sect: "§",
  times: "×",
  trade: "™",
};

const codePointMax = 0x10_ffff;

export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(
    /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{2,8}));/g,
    (whole, decimal, hexadecimal, name) => {
      if (typeof name === "string") return Object.hasOwn(names, name) ? String(names[name]) : whole;
      const code = typeof decimal === "string" ? Number(decimal) : Number.parseInt(String(hexadecimal), 16);
      return code > 0 && code <= codePointMax ? String.fromCodePoint(code) : whole;
    },
  );
}
