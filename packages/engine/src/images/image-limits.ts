// How large pictures may be, and the sentences for those that are larger. All of it is known from a picture's first bytes,
// before anything is decoded.
import { EngineError } from "../errors.ts";
import { imageSideMax, imagesMax } from "./rgb-image.ts";
import type { ImageHeader } from "./image-header.ts";

/** What one picture may be at most, and what all of one request may be together. */
export interface ImageLimits {
  /** Bytes of one file. Default 20 MiB: a photograph of 24 megapixels in its best JPEG quality. */
  maxBytes?: number | undefined;
  /** Pixels of one picture. Default 40 million, 120 MB decoded: more than a phone's camera gives unless told to. */
  maxPixels?: number | undefined;
  /** Pixels of a picture's longer side. Default, and most that the native engine takes: 16,384. */
  maxSide?: number | undefined;
  /** Pictures of one request. Default, and most that a conversation may have: 64. */
  maxImages?: number | undefined;
  /** Pixels of all pictures of a request together. Default 100 million, 300 MB decoded. */
  maxTotalPixels?: number | undefined;
}

export const imageLimits = {
  maxBytes: 20 * 1024 * 1024,
  maxPixels: 40_000_000,
  maxSide: imageSideMax,
  maxImages: imagesMax,
  maxTotalPixels: 100_000_000,
} as const satisfies Required<ImageLimits>;

/** Throws `image_too_large` for a file of more bytes than allowed. */
export function checkBytes(bytes: number, { maxBytes = imageLimits.maxBytes }: ImageLimits): void {
  if (bytes <= maxBytes) return;
  const message = `An image has ${bytes} bytes; at most ${maxBytes} are taken. Send it smaller or compressed.`;
  throw new EngineError("image_too_large", message, { details: { bytes, maxBytes } });
}

/** Throws `image_too_large` for a picture of more pixels, or a longer side, than allowed. */
export function checkSize(
  { width, height }: ImageHeader,
  { maxPixels = imageLimits.maxPixels, maxSide = imageLimits.maxSide }: ImageLimits,
): void {
  if (width * height <= maxPixels && Math.max(width, height) <= maxSide) return;
  const message =
    `An image has ${width} × ${height} pixels; at most ${maxPixels}, and ${maxSide} a side, are taken. ` +
    "Send it scaled down.";
  throw new EngineError("image_too_large", message, { details: { width, height, maxPixels, maxSide } });
}

/** Throws `image_too_large` for more pictures than allowed. */
export function checkImages(images: number, { maxImages = imageLimits.maxImages }: ImageLimits): void {
  if (images <= maxImages) return;
  const message = `There are ${images} images; at most ${maxImages} are taken at a time.`;
  throw new EngineError("image_too_large", message, { details: { images, maxImages } });
}

/** Throws `image_too_large` when all pictures together have more pixels than allowed. */
export function checkTotalPixels(
  headers: readonly ImageHeader[],
  { maxTotalPixels = imageLimits.maxTotalPixels }: ImageLimits,
): void {
  const pixels = headers.reduce((sum, { width, height }) => sum + width * height, 0);
  if (pixels <= maxTotalPixels) return;
  const message = `The images have ${pixels} pixels together; at most ${maxTotalPixels} are taken. Send them scaled down.`;
  throw new EngineError("image_too_large", message, { details: { pixels, maxTotalPixels } });
}
