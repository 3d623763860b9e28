// Images from every source: bytes, Blobs, files and data URLs.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { dataUrlBytes, imageBytes } from "./image-bytes.ts";

const bytes = Buffer.from([0, 1, 2, 250, 251, 252, 253]);
const base64 = "AAEC+vv8/Q==";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-images-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe("the bytes of an image", () => {
  it("are the same from every source", async () => {
    const file = path.join(folder, "image.png");
    await writeFile(file, bytes);
    const buffer = new Uint8Array(bytes).buffer;
    const url = `data:image/png;base64,${base64}`;
    const sources = [
      bytes,
      buffer,
      new Blob([buffer]),
      file,
      pathToFileURL(file),
      pathToFileURL(file).href,
      url,
      new URL(url),
    ];
    for (const source of sources) expect(Buffer.from(await imageBytes(source))).toEqual(bytes);
  });

  it("are not read from a source that is too large, or not a regular file", async () => {
    const file = path.join(folder, "large.png");
    await writeFile(file, bytes);
    const tooLarge = { code: "image_too_large", details: { bytes: 7, maxBytes: 6 } };
    const limit = { maxBytes: 6 };
    for (const source of [file, new Blob([bytes]), `data:image/png;base64,${base64}`])
      await expect(imageBytes(source, limit)).rejects.toMatchObject(tooLarge);
    await expect(imageBytes(folder)).rejects.toMatchObject({ code: "image_invalid" });
    const missing = imageBytes(path.join(folder, "missing"));
    await expect(missing).rejects.toMatchObject({ code: "image_invalid", cause: { code: "ENOENT" } });
  });

  it("are never fetched", async () => {
    for (const url of ["http://127.0.0.1/a.png", "https://example.com/a.png", "ftp://example.com/a.png"])
      await expect(imageBytes(new URL(url))).rejects.toMatchObject({ code: "image_invalid" });
    for (const url of ["http://127.0.0.1/a.png", "HTTPS://example.com/a.png", "file://example.com/a.png"])
      await expect(imageBytes(url)).rejects.toMatchObject({
        code: "image_invalid",
        message: expect.stringMatching(/not fetched|is not a file/),
      });
  });
});

describe("a data URL", () => {
  it("may have any image's MIME type, and padding or none", () => {
    const types = ["image/png", "IMAGE/JPEG", "image/svg+xml", "application/octet-stream", "text/plain", ""];
    for (const type of [...types, "image/png;charset=utf-8", `image/png;name="a b.png"`])
      expect(dataUrlBytes(`data:${type};base64,${base64}`)).toEqual(bytes);
    expect(dataUrlBytes(`data:image/png;base64,${base64.replaceAll("=", "")}`)).toEqual(bytes);
    expect(dataUrlBytes("data:image/png;base64,")).toHaveLength(0);
  });

  it("may be in lines, and with spaces", () => {
    const lines = `\r\n${base64.slice(0, 4)}\r\n ${base64.slice(4)}\n\n`;
    expect(dataUrlBytes(`data:image/png;base64,${lines}`)).toEqual(bytes);
    expect(() => dataUrlBytes(`data:image/png;base64,${lines}`, { maxBytes: bytes.length })).not.toThrow();
    const long = Buffer.alloc(100_000, "image");
    const wrapped = long.toString("base64").replaceAll(/.{76}/g, "$&\n");
    expect(dataUrlBytes(`DATA:application/octet-stream;base64,${wrapped}`)).toEqual(long);
  });

  it("of any other form is refused", () => {
    const wrong = [
      base64,
      "",
      "data:",
      `data:image/png,${base64}`,
      ` data:image/png;base64,${base64}`,
      `data:image/png;base64,AAEC+vv8/Q=`,
      `data:image/png;base64,AAEC=vv8/Q==`,
      `data:image/png;base64,AAEC+`,
      `data:image/png;base64,AAEC*vv8`,
      `data:image/png;base64,====`,
      `data:image/${"a".repeat(300)};base64,${base64}`,
      `https://example.com/a.png`,
    ];
    for (const url of wrong)
      expect(() => dataUrlBytes(url), url).toThrow(expect.objectContaining({ code: "image_invalid" }));
  });
});
