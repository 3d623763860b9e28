import { expect, it } from "vitest";
import { imageUrl } from "./image-url.ts";

const beginnings = {
  png: [0x89, 0x50, 0x4e, 0x47],
  jpeg: [0xff, 0xd8, 0xff, 0xe0],
  gif: [0x47, 0x49, 0x46, 0x38],
  bmp: [0x42, 0x4d, 0, 0],
  webp: [0x52, 0x49, 0x46, 0x46],
};

it("is the same for bytes, a buffer and a Blob", async () => {
  const bytes = Uint8Array.from([...beginnings.png, 0, 250, 251, 252]);
  const url = `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`;
  for (const image of [bytes, Buffer.from(bytes), bytes.buffer, new Blob([bytes], { type: "text/plain" })])
    expect(await imageUrl(image)).toBe(url);
});

it("names the format by the first bytes", async () => {
  for (const [name, beginning] of Object.entries(beginnings))
    expect(await imageUrl(Uint8Array.from(beginning))).toMatch(`data:image/${name};base64,`);
});

it("holds every byte of a large image", async () => {
  const bytes = Uint8Array.from({ length: 1_000_003 }, (_, index) => index % 251);
  const url = await imageUrl(bytes);
  expect(Buffer.from(url.slice(url.indexOf(",") + 1), "base64").equals(bytes)).toBe(true);
});
