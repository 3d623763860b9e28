// The format and size of an image, read from its first bytes by our own rules: nothing is decoded before they are known to be
// within the limits. Nothing in the bytes is trusted.
import { EngineError } from "../../base/errors.ts";
import { readBmpSize } from "./bmp-header.ts";
import type { ImageFormat, ImageHeader, ImageSize } from "./image-limits.ts";

interface Format {
  format: ImageFormat;
  /** The start of the file, in Latin-1. */
  signature: RegExp;
  /** Throws `RangeError` if the bytes end too early; returns undefined if they contradict themselves. */
  size: (view: DataView) => ImageSize | undefined;
}

const formats: readonly Format[] = [
  { format: "jpeg", signature: /^\xff\xd8\xff/, size: jpegSize },
  // IHDR is the first chunk; its sizes are big-endian.
  {
    format: "png",
    signature: /^\x89PNG\r\n[^]{6}IHDR/,
    size: (view) => ({ width: view.getUint32(16), height: view.getUint32(20) }),
  },
  { format: "webp", signature: /^RIFF[^]{4}WEBPVP8/, size: webpSize },
  // The size of the logical screen, which contains all frames.
  {
    format: "gif",
    signature: /^GIF8[79]a/,
    size: (view) => ({ width: view.getUint16(6, true), height: view.getUint16(8, true) }),
  },
  { format: "bmp", signature: /^BM/, size: readBmpSize },
];

/** The length of the longest signature. */
const SIGNATURE_BYTES = 16;

/**
 * Reads the header of a JPEG, PNG, WebP, GIF or BMP file. Throws `image_invalid` for anything else, and for a header that is
 * cut off or contradicts itself.
 */
export function readImageHeader(bytes: Uint8Array): ImageHeader {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(
    "latin1",
    0,
    SIGNATURE_BYTES,
  );
  const found = formats.find(({ signature }) => signature.test(start));
  if (found === undefined) {
    const message = "Unknown image format: JPEG, PNG, WebP, GIF and BMP are supported.";
    throw new EngineError("image_invalid", message);
  }
  const size = readSize(found, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (size === undefined || size.width < 1 || size.height < 1) throw brokenImage(found.format);
  return { format: found.format, ...size };
}

/** The error for an image of a known format that cannot be read. */
export function brokenImage(format: ImageFormat, cause?: unknown): EngineError {
  const message = `The image looks like ${format.toUpperCase()}, but is damaged or cut off.`;
  return new EngineError("image_invalid", message, { cause, details: { format } });
}

function readSize({ format, size }: Format, view: DataView): ImageSize | undefined {
  try {
    return size(view);
  } catch (error) {
    // Thrown by reading after the end of a DataView.
    if (error instanceof RangeError) throw brokenImage(format, error);
    throw error;
  }
}

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;

/** The size of a JPEG (ITU T.81, annex B): skips segments up to the one that starts the frame. */
function jpegSize(view: DataView): ImageSize | undefined {
  let at = 2;
  for (;;) {
    // Like decoders, it skips bytes that are not a marker; any number of 0xff may precede one.
    while (view.getUint8(at) !== 0xff) at++;
    while (view.getUint8(at) === 0xff) at++;
    const marker = view.getUint8(at++);
    if (isStartOfFrame(marker)) return { width: view.getUint16(at + 5), height: view.getUint16(at + 3) };
    // Pixels, or the end, before a frame header: there is no size.
    if (marker === START_OF_SCAN || marker === END_OF_IMAGE) return undefined;
    if (hasNoLength(marker)) continue;
    const length = view.getUint16(at);
    if (length < 2) return undefined;
    at += length;
  }
}

/** SOF0 to SOF15, except the tables for Huffman (C4), the extension (C8) and arithmetic coding (CC). */
function isStartOfFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

/** A stuffed byte, TEM, RST0 to RST7 and SOI. */
function hasNoLength(marker: number): boolean {
  return marker === 0x00 || marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
}

/** In a WebP (RFC 9649), the type of the first chunk follows "RIFF", a length and "WEBP"; its content follows its length. */
const CHUNK_TYPE_AT = 12;
const CONTENT_AT = 20;
const LOSSLESS_SIGNATURE = 0x2f;

/** The size of a WebP: of its canvas, or of its only frame. */
function webpSize(view: DataView): ImageSize | undefined {
  const type = String.fromCharCode(...[0, 1, 2, 3].map((offset) => view.getUint8(CHUNK_TYPE_AT + offset)));
  if (type === "VP8X")
    return { width: uint24(view, CONTENT_AT + 4) + 1, height: uint24(view, CONTENT_AT + 7) + 1 };
  if (type === "VP8L") return losslessSize(view);
  if (type === "VP8 ") return lossySize(view);
  return undefined;
}

/** After the signature: 14 bits each, minus one. */
function losslessSize(view: DataView): ImageSize | undefined {
  if (view.getUint8(CONTENT_AT) !== LOSSLESS_SIGNATURE) return undefined;
  const bits = view.getUint32(CONTENT_AT + 1, true);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}

/** After a tag and a start code of three bytes each (RFC 6386, 9.1): 14 bits each, and two bits for scaling. */
function lossySize(view: DataView): ImageSize | undefined {
  const isKeyFrame = (view.getUint8(CONTENT_AT) & 1) === 0;
  if (!isKeyFrame || uint24(view, CONTENT_AT + 3) !== 0x2a019d) return undefined;
  return {
    width: view.getUint16(CONTENT_AT + 6, true) & 0x3fff,
    height: view.getUint16(CONTENT_AT + 8, true) & 0x3fff,
  };
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}
