// Strict base64, in lines or not: Node skips invalid characters.

/** The data that a text holds from some place on. */
export interface Base64 {
  bytes: number;
  /** Undefined for invalid base64. */
  decode: () => Buffer | undefined;
}

const spaces = ["\n", "\r", " ", "\t"];
/** At most this share of a text is white space: lines have 64 or 76 letters, some indented. */
const spaceShareMax = 1 / 4;
/** Text at the end that may have padding and white space. */
const tailLength = 64;

/** The size is known before anything is decoded. White space between the letters does not count. */
export function readBase64(text: string, from = 0): Base64 {
  const tail = /[=\s]*$/.exec(text.slice(Math.max(from, text.length - tailLength)))?.[0] ?? "";
  const padding = tail.split("=").length - 1;
  const spacesMax = tailLength + (text.length - from) * spaceShareMax;
  const space = countSpaces(text, from, spacesMax);
  const digits = text.length - from - space - padding;
  const bytes = Math.floor((digits * 3) / 4);
  const isPadded = padding === 0 || (padding <= 2 && (digits + padding) % 4 === 0);
  const isComplete = digits % 4 !== 1 && isPadded && space <= spacesMax;
  const decode = (): Buffer | undefined => {
    const decoded = Buffer.from(text.slice(from), "base64");
    // Node skips invalid characters, which results in fewer bytes.
    return isComplete && decoded.length === bytes ? decoded : undefined;
  };
  return { bytes, decode };
}

/** Counting ends soon after `max`. */
function countSpaces(text: string, from: number, max: number): number {
  let count = 0;
  for (const space of spaces)
    for (let at = text.indexOf(space, from); at >= 0 && count <= max; at = text.indexOf(space, at + 1))
      count += 1;
  return count;
}
