// Decodes uncompressed BMP files of every depth, which sharp does not support. Like most readers of BMP, it ignores an alpha
// channel. It runs on the main thread, so it yields to the event loop between bands of rows.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";

import { readBmpHeader, type BmpHeader } from "./bmp-header.ts";
import { brokenImage } from "./image-header.ts";
import type { RgbImage } from "./image-limits.ts";

/** Pixels between two yields: a few milliseconds. */
const BAND_PIXELS = 250_000;

/** Throws `image_invalid` for missing pixels and unsupported kinds of BMP. */
export async function decodeBmp(bytes: Uint8Array, signal?: AbortSignal): Promise<RgbImage> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const header = readBmpHeader(view);
  if (header === undefined) throw brokenImage("bmp");
  const { width, height, bitsPerPixel, pixelsAt, isTopDown } = header;
  // Rows are padded to whole words.
  const rowBytes = Math.ceil((width * bitsPerPixel) / 32) * 4;
  const paletteEnd = header.palette.at + header.palette.colours * header.palette.bytes;
  if (pixelsAt + rowBytes * height > bytes.length || paletteEnd > bytes.length) throw brokenImage("bmp");

  const data = new Uint8Array(3 * width * height);
  const readRow = rowReader(view, header);
  const rowsPerBand = Math.max(1, Math.floor(BAND_PIXELS / width));
  for (let row = 0; row < height; row++) {
    const stored = isTopDown ? row : height - 1 - row;
    readRow(pixelsAt + stored * rowBytes, data.subarray(3 * width * row, 3 * width * (row + 1)));
    if (row % rowsPerBand !== rowsPerBand - 1) continue;
    await yieldToEventLoop();
    signal?.throwIfAborted();
  }
  return { width, height, data };
}

/** Reads the row that starts at `at` into `row`. */
type RowReader = (at: number, row: Uint8Array) => void;

function rowReader(view: DataView, header: BmpHeader): RowReader {
  const { bitsPerPixel } = header;
  if (bitsPerPixel === 24) return (at, row) => readBlueGreenRed(view, at, row);
  if (bitsPerPixel <= 8) return paletteReader(view, header);
  const channels = header.masks.map(channelReader);
  const bytes = bitsPerPixel / 8;
  return (at, row) => {
    for (let x = 0; 3 * x < row.length; x++) {
      const offset = at + bytes * x;
      const pixel = bytes === 2 ? view.getUint16(offset, true) : view.getUint32(offset, true);
      for (const [index, channel] of channels.entries()) row[3 * x + index] = channel(pixel);
    }
  };
}

function readBlueGreenRed(view: DataView, at: number, row: Uint8Array): void {
  for (let x = 0; x < row.length; x += 3) {
    row[x] = view.getUint8(at + x + 2);
    row[x + 1] = view.getUint8(at + x + 1);
    row[x + 2] = view.getUint8(at + x);
  }
}

/** A byte may hold several pixels, the first in the highest bits. Colours that the palette lacks are black. */
function paletteReader(view: DataView, { bitsPerPixel, palette }: BmpHeader): RowReader {
  const perByte = 8 / bitsPerPixel;
  const mask = 2 ** bitsPerPixel - 1;
  return (at, row) => {
    for (let x = 0; 3 * x < row.length; x++) {
      const byte = view.getUint8(at + Math.floor(x / perByte));
      const colour = (byte >>> (8 - bitsPerPixel * ((x % perByte) + 1))) & mask;
      if (colour >= palette.colours) continue;
      const entry = palette.at + colour * palette.bytes;
      row[3 * x] = view.getUint8(entry + 2);
      row[3 * x + 1] = view.getUint8(entry + 1);
      row[3 * x + 2] = view.getUint8(entry);
    }
  };
}

/** Extracts one colour from a pixel and scales it to 0 … 255. A colour without bits is 0. */
function channelReader(mask: number): (pixel: number) => number {
  if (mask === 0) return () => 0;
  const shift = 31 - Math.clz32(mask & -mask);
  const max = mask >>> shift;
  return (pixel) => Math.round((((pixel & mask) >>> shift) * 255) / max);
}
