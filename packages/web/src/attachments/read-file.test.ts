import { describe, expect, it } from "vitest";

import { decodeText, readFile } from "./read-file.ts";

const bytes = (...values: number[]) => new Uint8Array(values).buffer;

describe("decodeText", () => {
  it("reads UTF-8, with and without its mark", () => {
    expect(decodeText(new TextEncoder().encode("Grüße\r\n").buffer)).toBe("Grüße\n");
    expect(decodeText(bytes(0xef, 0xbb, 0xbf, 0x61))).toBe("a");
  });

  it("reads UTF-16 with its mark", () => {
    expect(decodeText(bytes(0xff, 0xfe, 0x61, 0x00))).toBe("a");
    expect(decodeText(bytes(0xfe, 0xff, 0x00, 0x61))).toBe("a");
  });

  it("refuses what is no text", () => {
    expect(decodeText(bytes(0x89, 0x50, 0x4e, 0x47))).toBeUndefined();
    expect(decodeText(bytes(0x61, 0x00, 0x62))).toBeUndefined();
  });
});

describe("readFile", () => {
  it("takes a text by its name", async () => {
    expect(await readFile(new File(["rain"], "notes.xyz"), { canSee: false })).toMatchObject({
      problem: null,
      image: null,
      attachment: { kind: "text", name: "notes.xyz", text: "rain", bytes: 4 },
    });
  });

  it("takes images only where a model can see them", async () => {
    const file = new File(["png"], "a.png", { type: "image/png" });
    expect(await readFile(file, { canSee: false })).toEqual({ problem: "noVision" });
    expect(await readFile(file, { canSee: true })).toMatchObject({
      image: file,
      attachment: { kind: "image" },
    });
  });

  it("says why it cannot take a file", async () => {
    const canSee = { canSee: true };
    expect(await readFile(new File([], "empty.txt"), canSee)).toEqual({ problem: "empty" });
    expect(await readFile(new File([bytes(0xff, 0xff)], "a.bin"), canSee)).toEqual({ problem: "notText" });
    const large = new File([new Uint8Array(5 * 1024 * 1024)], "a.log");
    expect(await readFile(large, canSee)).toEqual({ problem: "tooLarge" });
  });
});
