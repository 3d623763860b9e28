// The header of a BMP file: its size, and how its pixels are stored. Numbers are little-endian; a negative height means that
// the top row comes first.
import type { ImageSize } from "./image-limits.ts";

export interface BmpHeader extends ImageSize {
  /** Where the pixels start, in bytes from the start of the file. */
  pixelsAt: number;
  bitsPerPixel: 1 | 4 | 8 | 16 | 24 | 32;
  isTopDown: boolean;
  /** For 1, 4 and 8 bits: the offset of the colours, their number, and the bytes of each. */
  palette: { at: number; colours: number; bytes: 3 | 4 };
  /** For 16 and 32 bits: the masks of red, green and blue. */
  masks: readonly [red: number, green: number, blue: number];
}

const FILE_HEADER_BYTES = 14;
/** The oldest header, with sizes of 16 bits. */
const CORE_HEADER_BYTES = 12;
/** The common header; longer ones start like it. */
const INFO_HEADER_BYTES = 40;
const UNCOMPRESSED = 0;
const BIT_FIELDS = 3;

const depths = [1, 4, 8, 16, 24, 32] as const;

/** Throws `RangeError` if the bytes end too early. */
export function readBmpSize(view: DataView): ImageSize | undefined {
  const header = readBmpHeader(view);
  return header && { width: header.width, height: header.height };
}

/** The header, or undefined if it is invalid or unsupported. Throws `RangeError` if the bytes end too early. */
export function readBmpHeader(view: DataView): BmpHeader | undefined {
  const headerBytes = view.getUint32(FILE_HEADER_BYTES, true);
  const pixelsAt = view.getUint32(10, true);
  if (headerBytes === CORE_HEADER_BYTES) return coreHeader(view, pixelsAt);
  // Run lengths, and JPEG or PNG inside BMP, are rare and not supported.
  const compression = view.getUint32(30, true);
  if (headerBytes < INFO_HEADER_BYTES || (compression !== UNCOMPRESSED && compression !== BIT_FIELDS))
    return undefined;
  const bitsPerPixel = supportedDepth(view.getUint16(28, true));
  if (bitsPerPixel === undefined) return undefined;
  const hasMasks = compression === BIT_FIELDS;
  if (hasMasks && bitsPerPixel !== 16 && bitsPerPixel !== 32) return undefined;
  const height = view.getInt32(22, true);
  return {
    width: view.getInt32(18, true),
    height: Math.abs(height),
    isTopDown: height < 0,
    pixelsAt,
    bitsPerPixel,
    palette: {
      at: FILE_HEADER_BYTES + headerBytes,
      colours: paletteSize(view.getUint32(46, true), bitsPerPixel),
      bytes: 4,
    },
    masks: hasMasks ? readMasks(view) : defaultMasks(bitsPerPixel),
  };
}

function coreHeader(view: DataView, pixelsAt: number): BmpHeader | undefined {
  const bitsPerPixel = supportedDepth(view.getUint16(24, true));
  if (bitsPerPixel === undefined) return undefined;
  return {
    width: view.getUint16(18, true),
    height: view.getUint16(20, true),
    isTopDown: false,
    pixelsAt,
    bitsPerPixel,
    palette: { at: FILE_HEADER_BYTES + CORE_HEADER_BYTES, colours: paletteSize(0, bitsPerPixel), bytes: 3 },
    masks: defaultMasks(bitsPerPixel),
  };
}

function supportedDepth(bits: number): BmpHeader["bitsPerPixel"] | undefined {
  return depths.find((depth) => depth === bits);
}

/** 0 means as many as the depth allows. */
function paletteSize(given: number, bitsPerPixel: number): number {
  const max = bitsPerPixel <= 8 ? 2 ** bitsPerPixel : 0;
  return given === 0 ? max : Math.min(given, max);
}

/** After the common header, or within a longer one: the offset is the same. */
function readMasks(view: DataView): BmpHeader["masks"] {
  return [view.getUint32(54, true), view.getUint32(58, true), view.getUint32(62, true)];
}

function defaultMasks(bitsPerPixel: number): BmpHeader["masks"] {
  return bitsPerPixel === 16 ? [0x7c00, 0x03e0, 0x001f] : [0xff0000, 0x00ff00, 0x0000ff];
}
