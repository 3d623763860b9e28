import { describe, expect, it } from "vitest";

import { decodeText, readFile } from "./read-file.ts";

const bytes = (...values: number[]) => new Uint8Array(values).buffer;

describe("decodeText", () => {
  it("reads UTF-8, with and without a byte order mark", () => {
    expect(decodeText(new TextEncoder().encode("Grüße\r\n").buffer)).toBe("Grüße\n");
    expect(decodeText(bytes(0xef, 0xbb, 0xbf, 0x61))).toBe("a");
  });

  it("reads UTF-16 with a byte order mark", () => {
    expect(decodeText(bytes(0xff, 0xfe, 0x61, 0x00))).toBe("a");
    expect(decodeText(bytes(0xfe, 0xff, 0x00, 0x61))).toBe("a");
  });

  // What Windows-1252 has beyond that is tested in a browser: some versions of Node decode it as Latin-1.
  it("reads Latin-1, which older programs write", () => {
    expect(decodeText(bytes(0x47, 0x72, 0xfc, 0xdf, 0x65, 0x0d, 0x0a))).toBe("Grüße\n");
  });

  it("rejects a text in another alphabet, whose letters it would get wrong", () => {
    expect(decodeText(bytes(0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2))).toBeUndefined();
    expect(decodeText(bytes(0x61, 0x81, 0x62))).toBeUndefined();
  });

  it("rejects binary data", () => {
    expect(decodeText(bytes(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a))).toBeUndefined();
    expect(decodeText(bytes(0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10))).toBeUndefined();
    expect(decodeText(bytes(0x61, 0x00, 0x62))).toBeUndefined();
  });
});

describe("readFile", () => {
  it("reads a text file, whatever its extension", async () => {
    expect(await readFile(new File(["rain"], "notes.xyz"), { readsImages: false })).toMatchObject({
      problem: null,
      image: null,
      attachment: { kind: "text", name: "notes.xyz", text: "rain", bytes: 4 },
    });
  });

  it("accepts images only if the model can read them", async () => {
    const file = new File(["png"], "a.png", { type: "image/png" });
    expect(await readFile(file, { readsImages: false })).toEqual({ problem: "noVision" });
    expect(await readFile(file, { readsImages: true })).toMatchObject({
      image: file,
      attachment: { kind: "image" },
    });
  });

  it("reports why a file cannot be attached", async () => {
    const options = { readsImages: true };
    expect(await readFile(new File([], "empty.txt"), options)).toEqual({ problem: "empty" });
    expect(await readFile(new File([bytes(0xff, 0xff)], "a.bin"), options)).toEqual({ problem: "notText" });
    const large = new File([new Uint8Array(5 * 1024 * 1024)], "a.log");
    expect(await readFile(large, options)).toEqual({ problem: "tooLarge" });
  });
});
