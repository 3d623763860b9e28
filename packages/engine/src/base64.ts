// Strict base64: Node skips invalid characters.

/** The data that a text holds from some place on. */
export interface Base64 {
  bytes: number;
  /** Undefined for invalid base64. */
  decode: () => Buffer | undefined;
}

/** The size is known before anything is decoded. */
export function readBase64(text: string, from = 0): Base64 {
  const padding = /={0,2}$/.exec(text.slice(Math.max(from, text.length - 2)))?.[0].length ?? 0;
  const digits = text.length - from - padding;
  const bytes = Math.floor((digits * 3) / 4);
  const isComplete = digits % 4 !== 1 && (padding === 0 || (digits + padding) % 4 === 0);
  const decode = (): Buffer | undefined => {
    const decoded = Buffer.from(text.slice(from), "base64");
    // Node skips invalid characters, which results in fewer bytes.
    return isComplete && decoded.length === bytes ? decoded : undefined;
  };
  return { bytes, decode };
}
