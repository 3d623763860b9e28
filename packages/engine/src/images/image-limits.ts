// The limits of images, all of which are checked by the first bytes of a file, before anything is decoded.
import { EngineError } from "../errors.ts";
import { imageSideMax, imagesMax } from "./rgb-image.ts";

export type ImageFormat = "jpeg" | "png" | "webp" | "gif" | "bmp";

export interface ImageSize {
  /** Pixels as stored, before the EXIF orientation is applied. */
  width: number;
  height: number;
}

export interface ImageHeader extends ImageSize {
  format: ImageFormat;
}

/** The limits of one image, and of all images of a request. */
export interface ImageLimits {
  /** Bytes of one file. Default 20 MiB: a photograph of 24 megapixels in the best JPEG quality. */
  maxBytes?: number | undefined;
  /** Pixels of one image. Default 40 million, 120 MB decoded: more than a phone's camera has by default. */
  maxPixels?: number | undefined;
  /** Pixels of an image's longer side. Default 16,384, which is also the native engine's limit. */
  maxSide?: number | undefined;
  /** Images of one request. Default 64, which is also the limit of a conversation. */
  maxImages?: number | undefined;
  /** Total pixels of the images of a request. Default 100 million, 300 MB decoded. */
  maxTotalPixels?: number | undefined;
}

export const imageLimits = {
  maxBytes: 20 * 1024 * 1024,
  maxPixels: 40_000_000,
  maxSide: imageSideMax,
  maxImages: imagesMax,
  maxTotalPixels: 100_000_000,
} as const satisfies Required<ImageLimits>;

/** Throws `image_too_large` for more bytes than allowed. */
export function checkBytes(bytes: number, { maxBytes = imageLimits.maxBytes }: ImageLimits): void {
  if (bytes <= maxBytes) return;
  const message = `An image has ${bytes} bytes; at most ${maxBytes} are allowed. Send it smaller or compressed.`;
  throw new EngineError("image_too_large", message, { details: { bytes, maxBytes } });
}

/** Throws `image_too_large` for more pixels, or a longer side, than allowed. */
export function checkSize(
  { width, height }: ImageHeader,
  { maxPixels = imageLimits.maxPixels, maxSide = imageLimits.maxSide }: ImageLimits,
): void {
  if (width * height <= maxPixels && Math.max(width, height) <= maxSide) return;
  const message =
    `An image has ${width} × ${height} pixels; at most ${maxPixels}, and ${maxSide} per side, are allowed. ` +
    "Scale it down.";
  throw new EngineError("image_too_large", message, { details: { width, height, maxPixels, maxSide } });
}

/** Throws `image_too_large` for more images than allowed. */
export function checkImages(images: number, { maxImages = imageLimits.maxImages }: ImageLimits): void {
  if (images <= maxImages) return;
  const message = `There are ${images} images; at most ${maxImages} are allowed in one request.`;
  throw new EngineError("image_too_large", message, { details: { images, maxImages } });
}

/** Throws `image_too_large` for more total pixels than allowed. */
export function checkTotalPixels(
  headers: readonly ImageHeader[],
  { maxTotalPixels = imageLimits.maxTotalPixels }: ImageLimits,
): void {
  const pixels = headers.reduce((sum, { width, height }) => sum + width * height, 0);
  if (pixels <= maxTotalPixels) return;
  const message = `The images have ${pixels} pixels in total; at most ${maxTotalPixels} are allowed. Scale them down.`;
  throw new EngineError("image_too_large", message, { details: { pixels, maxTotalPixels } });
}
