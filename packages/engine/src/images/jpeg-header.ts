// The size of a JPEG (ITU T.81, annex B): segments are walked through until the one that begins the frame.
import type { ImageSize } from "./image-header.ts";

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;

/** Throws `RangeError` where the bytes end before the frame's header does. */
export function jpegSize(view: DataView): ImageSize | undefined {
  let at = 2;
  for (;;) {
    // Decoders pass over bytes that are no marker; any number of 0xff may precede one.
    while (view.getUint8(at) !== 0xff) at++;
    while (view.getUint8(at) === 0xff) at++;
    const marker = view.getUint8(at++);
    if (isStartOfFrame(marker)) return { width: view.getUint16(at + 5), height: view.getUint16(at + 3) };
    // Pixels or the end before a frame's header: there is no size.
    if (marker === START_OF_SCAN || marker === END_OF_IMAGE) return undefined;
    if (isAlone(marker)) continue;
    const length = view.getUint16(at);
    if (length < 2) return undefined;
    at += length;
  }
}

/** SOF0 to SOF15 without the tables for Huffman (C4), the extension (C8) and arithmetic coding (CC). */
function isStartOfFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

/** Markers without a length: a stuffed byte, TEM, RST0 to RST7 and SOI. */
function isAlone(marker: number): boolean {
  return marker === 0x00 || marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
}
