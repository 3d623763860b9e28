// Decodes image files to pixels. sharp (libvips) does it on its own threads; it is loaded with the first image, because most
// programs never decode one.
import type { Sharp, SharpOptions } from "sharp";

import { EngineError } from "../../base/errors.ts";
import { decodeBmp } from "./decode-bmp.ts";
import { brokenImage, readImageHeader } from "./image-header.ts";
import {
  checkBytes,
  checkImages,
  checkSize,
  checkTotalPixels,
  imageLimits,
  type ImageFormat,
  type ImageHeader,
  type ImageLimits,
  type RgbImage,
} from "./image-limits.ts";

export interface DecodeImageOptions extends Pick<ImageLimits, "maxBytes" | "maxPixels" | "maxSide"> {
  signal?: AbortSignal | undefined;
}

export interface DecodeImagesOptions extends ImageLimits {
  signal?: AbortSignal | undefined;
}

/** Decoding 40 megapixels takes a second or two. Files made to take longer, such as JPEGs of a thousand scans, are aborted. */
const DECODE_SECONDS_MAX = 20;

/** The background of transparent pixels, as on a web page. */
const BACKGROUND = "#ffffff";

/**
 * Decodes an image file: JPEG, PNG, WebP, GIF or BMP, whatever its name or MIME type says.
 *
 * - The image is rotated upright by its EXIF orientation.
 * - Of an animation, the first frame is used.
 * - Transparent pixels get a white background. (The image processors of transformers and llama.cpp's own decoder drop the alpha
 *   channel instead and show the colours hidden behind it, which are black in many files and noise in some.)
 * - Grey, CMYK and 16 bits per channel become 8-bit RGB. Colour profiles are not applied, as in the models' training.
 *
 * Throws `image_invalid` for other formats and damaged files, `image_too_large` for more bytes or pixels than the limits,
 * before anything is decoded, and `native_missing` if sharp has no build for this machine.
 */
export async function decodeImage(bytes: Uint8Array, options: DecodeImageOptions = {}): Promise<RgbImage> {
  options.signal?.throwIfAborted();
  return decodeChecked(bytes, checkedHeader(bytes, options), options);
}

/**
 * Decodes the images of one request, one after the other. Throws as `decodeImage`, with the image's index as `image` in the
 * details, and `image_too_large` for too many images or total pixels, before anything is decoded.
 */
export async function decodeImages(
  files: readonly Uint8Array[],
  options: DecodeImagesOptions = {},
): Promise<RgbImage[]> {
  options.signal?.throwIfAborted();
  checkImages(files.length, options);
  const headers = files.map((bytes, image) => {
    try {
      return checkedHeader(bytes, options);
    } catch (error) {
      throw withIndex(error, image);
    }
  });
  checkTotalPixels(headers, options);
  const images: RgbImage[] = [];
  for (const [image, header] of headers.entries()) {
    try {
      images.push(await decodeChecked(files[image] ?? new Uint8Array(), header, options));
    } catch (error) {
      throw withIndex(error, image);
    }
  }
  return images;
}

/** The error with the image's index in its details. */
export function withIndex(error: unknown, image: number): unknown {
  if (!EngineError.is(error)) return error;
  const details = { ...error.details, image };
  return new EngineError(error.code, error.message, { cause: error.cause, details });
}

function checkedHeader(bytes: Uint8Array, limits: ImageLimits): ImageHeader {
  checkBytes(bytes.length, limits);
  const header = readImageHeader(bytes);
  checkSize(header, limits);
  return header;
}

async function decodeChecked(
  bytes: Uint8Array,
  { format }: ImageHeader,
  { signal, maxPixels = imageLimits.maxPixels }: DecodeImageOptions,
): Promise<RgbImage> {
  if (format === "bmp") return decodeBmp(bytes, signal);
  const openImage = await loadSharp();
  signal?.throwIfAborted();
  const image = openImage(bytes, { ...reading, limitInputPixels: maxPixels });
  try {
    return await untilAborted(decodePixels(image, format), signal);
  } catch (error) {
    signal?.throwIfAborted();
    throw EngineError.is(error) ? error : brokenImage(format, error);
  }
}

const reading = {
  // Fails for truncated files and invalid pixels. Warnings are about invisible problems.
  failOn: "error",
  ignoreIcc: true,
  sequentialRead: true,
} as const satisfies SharpOptions;

async function decodePixels(image: Sharp, format: ImageFormat): Promise<RgbImage> {
  // A file that is valid in two formats is only decoded in the format whose size was checked.
  const found = await image.metadata();
  if (found.format !== format) throw brokenImage(format);
  const { data, info } = await image
    .autoOrient()
    .flatten({ background: BACKGROUND })
    .toColourspace("srgb")
    .timeout({ seconds: DECODE_SECONDS_MAX })
    .raw({ depth: "uchar" })
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
}

/** Rejects as soon as the signal is aborted; the work on another thread runs to its end, and its result is ignored. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  const done = new AbortController();
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true, signal: done.signal });
  });
  try {
    await Promise.race([work, aborted]);
    signal.throwIfAborted();
    return await work;
  } finally {
    done.abort();
  }
}

let sharpLoading: Promise<(typeof import("sharp"))["default"]> | undefined;

async function loadSharp(): Promise<(typeof import("sharp"))["default"]> {
  sharpLoading ??= import("sharp").then((loaded) => loaded.default);
  try {
    return await sharpLoading;
  } catch (error) {
    sharpLoading = undefined;
    const message =
      "Images cannot be decoded: the package sharp has no build for this machine or is not installed. Install sharp.";
    throw new EngineError("native_missing", message, { cause: error });
  }
}
