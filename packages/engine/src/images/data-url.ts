// Reads images from `data:` URLs (RFC 2397), strictly: an image's MIME type and base64, nothing else. The format is detected
// from the bytes, not from the MIME type.
import { EngineError } from "../errors.ts";
import { checkBytes } from "./image-limits.ts";
import type { ImageLimits } from "./image-limits.ts";

const prefixPattern = /^data:image\/[a-z0-9.+-]{1,64};base64,/i;
/** The longest prefix. */
const PREFIX_LENGTH_MAX = 96;

/**
 * The bytes of a URL like `data:image/png;base64,iVBORw0…`. Throws `image_invalid` for any other text, and
 * `image_too_large` for more than `maxBytes`, before anything is decoded.
 */
export function dataUrlBytes(url: string, limits: Pick<ImageLimits, "maxBytes"> = {}): Buffer {
  const prefix = prefixPattern.exec(url.slice(0, PREFIX_LENGTH_MAX))?.[0];
  if (prefix === undefined)
    throw new EngineError("image_invalid", "An image must be a URL like data:image/png;base64,….");
  const padding = /={0,2}$/.exec(url.slice(-2))?.[0].length ?? 0;
  const digits = url.length - prefix.length - padding;
  const bytes = Math.floor((digits * 3) / 4);
  checkBytes(bytes, limits);
  const isComplete = digits % 4 !== 1 && (padding === 0 || (digits + padding) % 4 === 0);
  const decoded = Buffer.from(url.slice(prefix.length), "base64");
  // Node skips invalid characters, which results in fewer bytes.
  if (!isComplete || decoded.length !== bytes)
    throw new EngineError("image_invalid", "The data of an image's URL is not valid base64.");
  return decoded;
}
