// Reads pictures out of `data:` URLs (RFC 2397), strictly: an image's MIME type, base64, nothing else. The MIME type decides
// nothing, the bytes do.
import { EngineError } from "../errors.ts";
import { checkBytes } from "./image-limits.ts";
import type { ImageLimits } from "./image-limits.ts";

const beginning = /^data:image\/[a-z0-9.+-]{1,64};base64,/i;
/** As far as a URL's beginning may reach. */
const BEGINNING_MAX = 96;

/**
 * The bytes of a URL like `data:image/png;base64,iVBORw0…`. Throws `image_invalid` for every other text, and
 * `image_too_large` before anything is read of one whose bytes are more than `maxBytes`.
 */
export function dataUrlBytes(url: string, limits: Pick<ImageLimits, "maxBytes"> = {}): Buffer {
  const begins = beginning.exec(url.slice(0, BEGINNING_MAX))?.[0];
  if (begins === undefined)
    throw new EngineError("image_invalid", "An image must be a URL like data:image/png;base64,….");
  const padding = /={0,2}$/.exec(url.slice(-2))?.[0].length ?? 0;
  const digits = url.length - begins.length - padding;
  const bytes = Math.floor((digits * 3) / 4);
  checkBytes(bytes, limits);
  const isWhole = digits % 4 !== 1 && (padding === 0 || (digits + padding) % 4 === 0);
  const decoded = Buffer.from(url.slice(begins.length), "base64");
  // Node passes over what is no digit of base64: fewer bytes come out then.
  if (!isWhole || decoded.length !== bytes)
    throw new EngineError("image_invalid", "The data of an image's URL is not valid base64.");
  return decoded;
}
