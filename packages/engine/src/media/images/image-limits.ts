// Decoded images, and the limits of images. All limits are checked by the first bytes of a file, before anything is decoded.
import { z } from "zod";
import { EngineError } from "../../base/errors.ts";

/** The native engine's limits of an image's longer side and of its pixels. */
const imageSideMax = 16_384;
const imagePixelsMax = 2 ** 26;

/** Images in one conversation: each may become a dozen tiles, and few of these fit into the context. */
export const imagesMax = 64;

export const RgbImage = z
  .object({
    width: z.int().min(1).max(imageSideMax),
    height: z.int().min(1).max(imageSideMax),
    /** Rows from top to bottom, three bytes per pixel: red, green, blue. */
    data: z.custom<Uint8Array>((data) => data instanceof Uint8Array, "bytes"),
  })
  .refine(({ width, height }) => width * height <= imagePixelsMax, `at most ${imagePixelsMax} pixels`)
  .refine(({ width, height, data }) => data.length === width * height * 3, {
    message: "three bytes for each pixel",
    path: ["data"],
  })
  .meta({ id: "RgbImage" });
export type RgbImage = z.infer<typeof RgbImage>;

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
