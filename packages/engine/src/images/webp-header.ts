// The size of a WebP (RFC 9649): of its canvas, or of its only frame. The first chunk says which.
import type { ImageSize } from "./image-header.ts";

/** The first chunk's kind lies behind "RIFF", a length and "WEBP"; its content behind its own length. */
const KIND_AT = 12;
const CONTENT_AT = 20;
const LOSSLESS_SIGNATURE = 0x2f;

/** Throws `RangeError` where the bytes end too early. */
export function webpSize(view: DataView): ImageSize | undefined {
  const kind = String.fromCharCode(...[0, 1, 2, 3].map((offset) => view.getUint8(KIND_AT + offset)));
  if (kind === "VP8X")
    return { width: uint24(view, CONTENT_AT + 4) + 1, height: uint24(view, CONTENT_AT + 7) + 1 };
  if (kind === "VP8L") return losslessSize(view);
  if (kind === "VP8 ") return lossySize(view);
  return undefined;
}

/** Behind the signature 14 bits each, both one less than they are. */
function losslessSize(view: DataView): ImageSize | undefined {
  if (view.getUint8(CONTENT_AT) !== LOSSLESS_SIGNATURE) return undefined;
  const bits = view.getUint32(CONTENT_AT + 1, true);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}

/** Behind a tag of three bytes and a start code of three (RFC 6386, 9.1): 14 bits each, and two that ask for scaling. */
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
