// Formats and sizes, read from the first bytes of real and made-up files.
import { imageFiles } from "@ingle/fixtures";
import fc from "fast-check";
import { expect, it } from "vitest";

import { EngineError } from "../../base/errors.ts";
import { readImageHeader } from "./image-header.ts";

/** The start of a JPEG: SOI and these segments. */
function jpeg(...segments: readonly (readonly number[])[]): Buffer {
  return Buffer.from([0xff, 0xd8, ...segments.flat()]);
}

function thrownCode(bytes: Uint8Array): string {
  try {
    return readImageHeader(bytes).format;
  } catch (error) {
    if (EngineError.is(error)) return error.code;
    throw error;
  }
}

it("every kind of file gives its format and its size as stored", async () => {
  for (const { name, format, bytes, image } of await imageFiles()) {
    const isLying = name.includes("lying");
    const [width, height] = isLying ? [image.height, image.width] : [image.width, image.height];
    expect([name, readImageHeader(bytes)]).toEqual([name, { format, width, height }]);
  }
});

it("a header that ends too early is an error, and never a size", async () => {
  for (const { name, format, bytes } of await imageFiles()) {
    let length = 0;
    while (thrownCode(bytes.subarray(0, length)) !== format) length++;
    expect(length, name).toBeGreaterThan(9);
    const others = Array.from(bytes, (_, end) => thrownCode(bytes.subarray(0, end))).slice(length);
    expect(new Set(others), name).toEqual(new Set([format]));
  }
});

it("a JPEG's frame is found after other segments, filled markers and stray bytes", () => {
  const frame = [0xff, 0xc2, 0, 11, 8, 0x01, 0x02, 0x03, 0x04, 1, 1, 0x11, 0];
  const size = { format: "jpeg", width: 0x0304, height: 0x0102 };
  const segment = [0xff, 0xe1, 0, 6, 0xff, 0xc0, 9, 9];
  expect(readImageHeader(jpeg(segment, frame))).toEqual(size);
  expect(readImageHeader(jpeg([0xff, 0xff, 0xff], frame))).toEqual(size);
  expect(readImageHeader(jpeg([0xff, 0xd0], [0xff, 0xc4, 0, 2], [0xff, 0xcc, 0, 2], frame))).toEqual(size);
  expect(readImageHeader(jpeg(segment, [1, 2, 3], frame))).toEqual(size);
});

it("a JPEG without a frame before its pixels, or with a segment of length 0, is broken", () => {
  for (const marker of [0xda, 0xd9])
    expect(thrownCode(jpeg([0xff, marker, 0, 8, 1, 1, 1, 1]))).toBe("image_invalid");
  expect(thrownCode(jpeg([0xff, 0xe0, 0, 1]))).toBe("image_invalid");
  expect(thrownCode(jpeg([0xff, 0xc0, 0, 11, 8, 0, 0, 0, 5, 1, 1, 0x11, 0]))).toBe("image_invalid");
});

it("an extended WebP gives the size of its canvas", () => {
  const bytes = Buffer.from("RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x2b\x01\0\x63\0\0", "latin1");
  expect(readImageHeader(bytes)).toEqual({ format: "webp", width: 300, height: 100 });
});

it("a BMP of the oldest kind is supported, compressed ones and impossible depths are broken", () => {
  const old = Buffer.alloc(26);
  old.write("BM");
  old.writeUInt32LE(12, 14);
  old.set([7, 0, 5, 0, 1, 0, 24, 0], 18);
  expect(readImageHeader(old)).toEqual({ format: "bmp", width: 7, height: 5 });
  old.writeUInt16LE(5, 24);
  expect(thrownCode(old)).toBe("image_invalid");
  const compressed = Buffer.alloc(54);
  compressed.write("BM");
  compressed.writeUInt32LE(40, 14);
  compressed.set([7, 0, 0, 0, 5, 0, 0, 0, 1, 0, 8, 0, 1, 0, 0, 0], 18);
  expect(thrownCode(compressed)).toBe("image_invalid");
});

it("any bytes after a known signature are a size or an error", async () => {
  const beginnings = (await imageFiles()).map(({ bytes }) => bytes.subarray(0, 24));
  fc.assert(
    fc.property(
      fc.constantFrom(...beginnings),
      fc.nat(24),
      fc.uint8Array({ maxLength: 80 }),
      (known, kept, rest) => {
        const bytes = Buffer.concat([known.subarray(0, kept), rest]);
        expect(["jpeg", "png", "webp", "gif", "bmp", "image_invalid"]).toContain(thrownCode(bytes));
      },
    ),
    { numRuns: 2000 },
  );
});
