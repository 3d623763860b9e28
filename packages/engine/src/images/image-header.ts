// What kind of picture some bytes are and how many pixels it has, read from its first bytes by rules of our own: nothing is
// decoded before this is known to be within the limits. Nothing in the bytes is trusted.
import { EngineError } from "../errors.ts";
import { readBmpSize } from "./bmp-header.ts";
import { jpegSize } from "./jpeg-header.ts";
import { webpSize } from "./webp-header.ts";

export type ImageFormat = "jpeg" | "png" | "webp" | "gif" | "bmp";

export interface ImageSize {
  /** Pixels, as they are stored: a camera's orientation is not looked at. */
  width: number;
  height: number;
}

export interface ImageHeader extends ImageSize {
  format: ImageFormat;
}

interface Kind {
  format: ImageFormat;
  /** What the file begins with, in Latin-1. */
  beginning: RegExp;
  /** Throws `RangeError` where the bytes end too early; gives undefined where they contradict themselves. */
  size: (view: DataView) => ImageSize | undefined;
}

const kinds: readonly Kind[] = [
  { format: "jpeg", beginning: /^\xff\xd8\xff/, size: jpegSize },
  // IHDR is the first chunk; its sizes are big-endian.
  {
    format: "png",
    beginning: /^\x89PNG\r\n[^]{6}IHDR/,
    size: (view) => ({ width: view.getUint32(16), height: view.getUint32(20) }),
  },
  { format: "webp", beginning: /^RIFF[^]{4}WEBPVP8/, size: webpSize },
  // The logical screen, on which all frames lie.
  {
    format: "gif",
    beginning: /^GIF8[79]a/,
    size: (view) => ({ width: view.getUint16(6, true), height: view.getUint16(8, true) }),
  },
  { format: "bmp", beginning: /^BM/, size: readBmpSize },
];

/** As many bytes as the longest beginning has. */
const BEGINNING_BYTES = 16;

/**
 * Reads the header of a JPEG, PNG, WebP, GIF or BMP file. Throws `image_invalid` for anything else, and for a header that is
 * cut off or makes no sense.
 */
export function readImageHeader(bytes: Uint8Array): ImageHeader {
  const beginning = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(
    "latin1",
    0,
    BEGINNING_BYTES,
  );
  const kind = kinds.find((one) => one.beginning.test(beginning));
  if (kind === undefined) {
    const message = "This is no image that can be read: JPEG, PNG, WebP, GIF and BMP are.";
    throw new EngineError("image_invalid", message);
  }
  const size = sizeOf(kind, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (size === undefined || size.width < 1 || size.height < 1) throw brokenImage(kind.format);
  return { format: kind.format, ...size };
}

/** What is thrown for a picture that is of a known kind and cannot be read. */
export function brokenImage(format: ImageFormat, cause?: unknown): EngineError {
  const message = `The image looks like ${format.toUpperCase()}, but is damaged or cut off.`;
  return new EngineError("image_invalid", message, { cause, details: { format } });
}

function sizeOf({ format, size }: Kind, view: DataView): ImageSize | undefined {
  try {
    return size(view);
  } catch (error) {
    // Reading behind the end of a DataView.
    if (error instanceof RangeError) throw brokenImage(format, error);
    throw error;
  }
}
