// Checks and decodes parts of untrusted text: addresses that become links or images, and HTML character references. Pure.

/** The address if it is safe as a link; undefined for everything else, such as `javascript:`. */
export function safeLink(address: string): string | undefined {
  return /^(?:https?:\/\/|mailto:)/i.test(address.trim()) && URL.canParse(address.trim())
    ? address.trim()
    : undefined;
}

/** The address if it is an image embedded in the text. SVG is excluded, since it may contain scripts. */
export function embeddedImage(address: string): string | undefined {
  return /^data:image\/(?:png|jpeg|gif|webp);base64,[\w+/=]+$/.test(address) ? address : undefined;
}

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
