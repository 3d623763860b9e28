// Images of every format decode to what was drawn; damaged, truncated and malicious files give a clear error.
import { drawImage, encodeBmp, encodePng, imageFiles, seededRandom, type ImageFile } from "@ingle/fixtures";
import { beforeAll, describe, expect, it } from "vitest";

import { EngineError } from "../../base/errors.ts";
import { decodeImage, decodeImages } from "./decode-image.ts";
import type { RgbImage } from "./image-limits.ts";

let files: ImageFile[] = [];
beforeAll(async () => {
  files = await imageFiles();
});

/** The average difference between the colours of two images of the same size. */
function distance(one: RgbImage, other: RgbImage): number {
  const sum = one.data.reduce((total, value, index) => total + Math.abs(value - (other.data[index] ?? 0)), 0);
  return sum / one.data.length;
}

/** Decodes a possibly damaged file; the result is a complete image or one of the two expected errors. */
async function expectPictureOrError(bytes: Uint8Array): Promise<RgbImage | EngineError> {
  try {
    const image = await decodeImage(bytes, { maxPixels: 1_000_000 });
    expect(image.data).toHaveLength(3 * image.width * image.height);
    return image;
  } catch (error) {
    if (!EngineError.is(error)) throw error;
    expect(["image_invalid", "image_too_large"]).toContain(error.code);
    return error;
  }
}

/** The header of a PNG, and the start of its pixels. */
function makePng(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]);
  bytes.write("IHDR", 12, "latin1");
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  bytes.set([8, 2], 24);
  return bytes;
}

describe("an image", () => {
  it("decodes to what was drawn, from every kind of file", async () => {
    expect(files.length).toBeGreaterThan(20);
    for (const { name, bytes, image: drawn, tolerance } of files) {
      const image = await decodeImage(bytes);
      expect([name, image.width, image.height]).toEqual([name, drawn.width, drawn.height]);
      expect(image.data, name).toHaveLength(3 * image.width * image.height);
      expect(distance(image, drawn), name).toBeLessThanOrEqual(tolerance);
    }
  });

  it("is decoded in order with others", async () => {
    const images = await decodeImages(files.map(({ bytes }) => bytes));
    expect(images.map(({ width }) => width)).toEqual(files.map(({ image }) => image.width));
  });

  it("of an unsupported format is refused, like other files", async () => {
    const others = [
      "",
      "BM",
      "GIF89a",
      "<svg xmlns='http://www.w3.org/2000/svg'/>",
      "%PDF-1.7",
      "II*\0",
      "hello",
    ];
    for (const text of others) {
      await expect(decodeImage(Buffer.from(text)), text).rejects.toMatchObject({ code: "image_invalid" });
    }
  });
});

describe("limits", () => {
  it("of bytes and pixels are checked before anything is decoded", async () => {
    const png = await encodePng(drawImage("disc", 30, 20));
    await expect(decodeImage(png, { maxBytes: 50 })).rejects.toMatchObject({
      code: "image_too_large",
      details: { bytes: png.length, maxBytes: 50 },
    });
    await expect(decodeImage(png, { maxPixels: 599 })).rejects.toMatchObject({
      code: "image_too_large",
      details: { width: 30, height: 20, maxPixels: 599 },
    });
    await expect(decodeImage(png, { maxSide: 29 })).rejects.toMatchObject({ code: "image_too_large" });
    await expect(decodeImage(png, { maxPixels: 600, maxSide: 30 })).resolves.toMatchObject({
      width: 30,
      height: 20,
    });
    await expect(decodeImage(makePng(10_000, 5000))).rejects.toMatchObject({ code: "image_too_large" });
    await expect(decodeImage(makePng(2 ** 31 - 1, 2 ** 31 - 1))).rejects.toMatchObject({
      code: "image_too_large",
    });
  });

  it("of a request apply to the number of images and their total pixels", async () => {
    const png = await encodePng(drawImage("disc", 30, 20));
    const three = [png, png, png];
    await expect(decodeImages(three, { maxImages: 2 })).rejects.toMatchObject({ code: "image_too_large" });
    await expect(decodeImages(three, { maxTotalPixels: 1799 })).rejects.toMatchObject({
      code: "image_too_large",
    });
    await expect(decodeImages(three, { maxTotalPixels: 1800 })).resolves.toHaveLength(3);
    const second = { code: "image_invalid", details: { image: 1 } };
    await expect(decodeImages([png, Buffer.from("no picture")])).rejects.toMatchObject(second);
    await expect(decodeImages([png, png.subarray(0, 60)])).rejects.toMatchObject(second);
  });

  it("cannot be evaded by a header that claims fewer pixels", async () => {
    const png = await encodePng(drawImage("disc", 30, 20));
    // The chunk's checksum no longer matches, either.
    png.writeUInt32BE(3, 16);
    await expect(decodeImage(png)).rejects.toMatchObject({ code: "image_invalid" });
    // A GIF grows if a frame is larger than its screen.
    const gif = files.find(({ name }) => name === "gif plain")?.bytes ?? Buffer.alloc(0);
    gif.writeUInt16LE(1, 6);
    gif.writeUInt16LE(1, 8);
    await expect(decodeImage(gif, { maxPixels: 2000 })).rejects.toMatchObject({ code: "image_invalid" });
  });
});

describe("a damaged file", () => {
  it("that is cut off anywhere is an image or an error", { timeout: 60_000 }, async () => {
    const percents = Array.from({ length: 100 }, (_, percent) => percent);
    for (const { name, bytes } of files) {
      const results = await Promise.all(
        percents.map(async (percent) =>
          expectPictureOrError(bytes.subarray(0, Math.floor((bytes.length * percent) / 100))),
        ),
      );
      const whole = results.slice(0, 50).findIndex((result) => !EngineError.is(result));
      expect(whole, name).toBe(-1);
    }
  });

  it("with flipped bits is an image or an error", { timeout: 60_000 }, async () => {
    for (const { name, bytes } of files) {
      const random = seededRandom(1, name);
      const trials = Array.from({ length: 60 }, (_, trial) => {
        const damaged = Buffer.from(bytes);
        for (let flip = 0; flip <= trial % 4; flip++) {
          const at = random.uint32() % damaged.length;
          damaged[at] = (damaged[at] ?? 0) ^ (1 << (random.uint32() % 8));
        }
        return expectPictureOrError(damaged);
      });
      await Promise.all(trials);
    }
  });

  it("that starts like one format and continues like another is an image or an error", async () => {
    for (const beginning of files) {
      for (const rest of files)
        await expectPictureOrError(Buffer.concat([beginning.bytes.subarray(0, 40), rest.bytes.subarray(40)]));
    }
  });
});

describe("decoding", () => {
  it("rejects with the signal's reason, before it starts and while it runs", async () => {
    const drawn = drawImage("checks", 1500, 1000);
    const reason = new Error("enough");
    for (const large of [await encodePng(drawn), encodeBmp(drawn, { bitsPerPixel: 24 })]) {
      await expect(decodeImage(large, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      const controller = new AbortController();
      const decoding = decodeImage(large, { signal: controller.signal });
      setImmediate(() => controller.abort(reason));
      await expect(decoding).rejects.toBe(reason);
      expect(distance(await decodeImage(large), drawn)).toBe(0);
    }
  });
});
