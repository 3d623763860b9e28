// Image files of every format: they get the number of tokens for their size, or an EngineError.
import { decodeImage, load, type LoadedModel, type Message } from "@ingle/engine";
import { imageFiles, tinyVisionModel, type ImageFile } from "@ingle/fixtures";
import { afterAll, beforeAll, expect, it } from "vitest";

/** LFM2-VL uses one token for 32 × 32 pixels, and at least 64. */
const size = { width: 256, height: 384 };
const tokensOfSize = 96;
const tokensOfOthers: Record<string, number> = { "png of one pixel": 64, "png like a ribbon": 94 };

let loaded: LoadedModel;
let files: ImageFile[] = [];
beforeAll(async () => {
  const { model, projector } = await tinyVisionModel({ architecture: "lfm2" });
  loaded = await load(model, { threads: 1, mmproj: projector });
  files = await imageFiles(size);
});
afterAll(() => loaded[Symbol.asyncDispose]());

async function imageTokens(bytes: Uint8Array): Promise<number> {
  const image = await decodeImage(bytes);
  const messages: Message[] = [{ role: "user", content: [{ type: "image", image }] }];
  const tokens = await loaded.model.promptTokens({ messages });
  return tokens.filter((token) => token < 0).length;
}

it("a file of any format gets the tokens of its upright size", async () => {
  const found: Record<string, number> = {};
  for (const { name, bytes } of files) found[name] = await imageTokens(bytes);
  const due = files.map(({ name }) => [name, tokensOfOthers[name] ?? tokensOfSize]);
  expect(found).toEqual(Object.fromEntries(due));
  expect(Object.keys(tokensOfOthers).every((name) => name in found)).toBe(true);
});

it("a file of 50 megapixels is refused before its pixels are decoded", async () => {
  const png = files.find(({ name }) => name === "png plain");
  const large = Buffer.from(png?.bytes ?? "");
  large.writeUInt32BE(10_000, 16);
  large.writeUInt32BE(5_000, 20);
  await expect(imageTokens(large)).rejects.toMatchObject({
    code: "image_too_large",
    details: { width: 10_000, height: 5_000 },
  });
});
