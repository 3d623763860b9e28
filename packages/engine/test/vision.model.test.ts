// Models that read images, from messages to texts: a hybrid with tiles (LFM2-VL), images with bidirectional attention (Gemma 3), and
// two-dimensional positions (Qwen2-VL).
import {
  fitModel,
  load,
  type LoadedModel,
  type LoadOptions,
  type Message,
  type RgbImage,
} from "@ingle/engine";
import { exactArithmetic, tinyModel, tinyVisionModel } from "@ingle/fixtures";
import { copyFile, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { within } from "./tiny.ts";

const architectures = ["lfm2", "gemma3", "qwen2vl"] as const;

async function loadSeeing(
  architecture: (typeof architectures)[number],
  options: LoadOptions = {},
): Promise<LoadedModel> {
  const { model, projector } = await tinyVisionModel({ architecture });
  return load(model, {
    threads: 1,
    ...exactArithmetic,
    mmproj: projector,
    contextLength: 2048,
    ...options,
  });
}

/** An image with a pattern that depends on the number. */
function testImage(number: number, width = 96, height = 64): RgbImage {
  const data = new Uint8Array(width * height * 3);
  for (let index = 0; index < data.length; index += 1) {
    const [x, y] = [Math.floor(index / 3) % width, Math.floor(index / 3 / width)];
    data[index] = Math.floor((x * (number + (index % 3)) + y * (3 * number + 1)) / 8) * 37 + number * 71;
  }
  return { width, height, data };
}

function user(...parts: (string | RgbImage)[]): Message {
  return {
    role: "user",
    content: parts.map((part) =>
      typeof part === "string" ? { type: "text", text: part } : { type: "image", image: part },
    ),
  };
}

describe.each(architectures)("a model that reads images, %s", (architecture) => {
  let loaded: LoadedModel;
  beforeAll(async () => {
    loaded = await loadSeeing(architecture);
  });
  afterAll(() => loaded[Symbol.asyncDispose]());

  const ask = async (messages: Message[], extra: object = {}) =>
    within(
      60_000,
      loaded.model.generate({ messages, temperature: 0, maxTokens: 16, ignoreEos: true, ...extra }),
    );

  it("reports that it reads images", () => {
    expect(loaded.model.info.readsImages).toBe(true);
  });

  it("generates depending on the images and their order", async () => {
    const texts = [];
    for (const parts of [
      ["What is this?", testImage(1)],
      ["What is this?", testImage(2)],
      [testImage(1), "What is this?"],
      [testImage(1), "What is this?", testImage(2), testImage(3, 40, 120)],
    ]) {
      const { text, usage } = await ask([user(...parts)]);
      expect(usage.completionTokens).toBe(16);
      texts.push(text);
    }
    expect(new Set(texts).size).toBe(texts.length);
  });

  it("counts an image's tokens, and computes and encodes only what is new in a chat's next turn", async () => {
    const first: Message[] = [user("Here is a long enough beginning. ", testImage(7), "What is this?")];
    const one = await ask(first);
    const words = await ask([user("Here is a long enough beginning. ", "What is this?")], {
      cachePrompt: false,
    });
    expect(one.usage.promptTokens).toBeGreaterThan(words.usage.promptTokens + 10);
    const { imagesEncoded } = loaded.model.stats();
    const second: Message[] = [...first, { role: "assistant", content: one.text }, user("And before?")];
    const two = await ask(second);
    expect(two.usage.cachedTokens).toBeGreaterThan(words.usage.promptTokens);
    expect(loaded.model.stats().imagesEncoded).toBe(imagesEncoded);
    expect(two.text).toBe((await ask(second, { cachePrompt: false })).text);
    const third = await ask([
      ...second,
      { role: "assistant", content: two.text },
      user(testImage(8), "And this?"),
    ]);
    // For a hybrid model, there is at least a checkpoint at the end of the image.
    expect(third.usage.cachedTokens).toBeGreaterThan(words.usage.promptTokens);
    expect(loaded.model.stats().imagesEncoded).toBeGreaterThan(imagesEncoded);
  });

  it("treats the marker in a message as text", async () => {
    for (const word of ["<__media__>", "<image>", "picture1234567890", "<start_of_image>", "<|image_pad|>"]) {
      const { usage } = await ask([{ role: "user", content: `${word} and ${word}` }], { maxTokens: 2 });
      expect(usage.promptTokens).toBeLessThan(100);
      await ask([user(word, testImage(1), word)], { maxTokens: 2 });
    }
  });

  it("generates the same texts for many concurrent requests", async () => {
    const chats = Array.from({ length: 8 }, (_, index): Message[] => [
      user(
        `Number ${index} of the same long beginning. `,
        ...(index % 3 === 0 ? [] : [testImage(index % 2)]),
        "What is it?",
      ),
    ]);
    const alone: string[] = [];
    for (const messages of chats) alone.push((await ask(messages, { cachePrompt: false })).text);
    const together = await Promise.all(chats.map(async (messages) => (await ask(messages)).text));
    expect(together).toEqual(alone);
  });

  it("ends a request whose signal is aborted while its image is encoded", async () => {
    const controller = new AbortController();
    const generation = loaded.model.generate(
      { messages: [user(testImage(99, 900, 900))] },
      { signal: controller.signal },
    );
    setTimeout(() => controller.abort(new Error("enough")), 20);
    await expect(generation).rejects.toThrow("enough");
    expect((await ask([user(testImage(1), "What is this?")])).usage.completionTokens).toBe(16);
  });

  it("refuses more images than fit into the context, with the numbers", async () => {
    const many = Array.from({ length: 60 }, (_, index) => testImage(index, 500, 500));
    const refused = ask([user(...many)]);
    if (architecture === "gemma3") return void (await refused); // 60 images of 16 tokens fit
    await expect(refused).rejects.toMatchObject({
      code: "context_length_exceeded",
      details: { contextLength: 2048 },
    });
  });
});

describe("a model with a projector", () => {
  it("continues a running reply while images are encoded", async () => {
    await using loaded = await loadSeeing("lfm2", { threads: 2 });
    const controller = new AbortController();
    const times: number[] = [];
    const running = (async () => {
      const generation = loaded.model.generate(
        { prompt: "Once upon a time", maxTokens: 2000, ignoreEos: true },
        { signal: controller.signal },
      );
      for await (const _ of generation) times.push(performance.now());
    })();
    const begin = performance.now();
    const seen = await within(
      60_000,
      loaded.model.generate({ messages: [user(testImage(3, 1000, 1000), "What is this?")], maxTokens: 1 }),
    );
    const end = performance.now();
    controller.abort();
    await running.catch(() => undefined);
    expect(seen.usage.completionTokens).toBe(1);
    const during = times.filter((time) => time > begin && time < end);
    expect(during.length).toBeGreaterThan(10);
  });

  it("frees the memory of 200 images", async () => {
    await using loaded = await loadSeeing("lfm2", { parallel: 2 });
    const see = async (number: number): Promise<void> => {
      await loaded.model.generate({
        messages: [user(testImage(number, 256, 256))],
        maxTokens: 1,
        cachePrompt: false,
      });
    };
    for (let number = 0; number < 20; number += 1) await see(number);
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    for (let number = 20; number < 220; number += 1) await see(number);
    globalThis.gc?.();
    // Their scaled pixels alone take 157 MB; only 16 kB are kept of each image.
    expect(process.memoryUsage().rss - before).toBeLessThan(80e6);
    expect(loaded.model.stats().cellsUsed).toBe(0);
  }, 120_000);

  it("reports its projector's memory", async () => {
    const { model, projector } = await tinyVisionModel({ architecture: "lfm2" });
    const budget = { byMemory: {} };
    const weights = async (options: LoadOptions): Promise<number> =>
      (await fitModel(model, options, { budget })).footprint.weightsBytes;
    expect(await weights({ mmproj: projector })).toBeGreaterThan(await weights({}));
  });

  it("reads an image at the requested resolution", async () => {
    const tokens: number[] = [];
    for (const sizes of [{ imageMaxTokens: 64 }, { imageMinTokens: 128, imageMaxTokens: 256 }]) {
      await using loaded = await loadSeeing("lfm2", sizes);
      const prompt = await loaded.model.promptTokens({ messages: [user(testImage(1, 300, 300))] });
      tokens.push(prompt.length);
    }
    expect(tokens[1]).toBeGreaterThan((tokens[0] ?? 0) + 50);
  });
});

describe("images that cannot be read", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "ingle-vision-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("are refused by a model without a projector", async () => {
    await using loaded = await load(await tinyModel(), { threads: 1 });
    expect(loaded.model.info.readsImages).toBe(false);
    await expect(loaded.model.generate({ messages: [user(testImage(1))] })).rejects.toMatchObject({
      code: "image_not_supported",
    });
  });

  it("are refused with their index if the data does not match the size", async () => {
    await using loaded = await loadSeeing("gemma3");
    const wrong = { width: 4, height: 4, data: new Uint8Array(47) };
    expect(() => loaded.model.generate({ messages: [user("see", wrong)] })).toThrow(/messages/u);
  });

  it("are refused with the projector of another model, without a projector, and with a damaged one", async () => {
    const { model, projector } = await tinyVisionModel({ architecture: "lfm2" });
    const wide = await tinyVisionModel({ architecture: "lfm2", embedding: 128 });
    const damaged = path.join(folder, "damaged.gguf");
    await copyFile(projector, damaged);
    await using file = await open(damaged, "r+");
    await file.truncate(4000);
    const refusals: [LoadOptions, string][] = [
      [{ mmproj: wide.projector }, "projector_mismatch"],
      [{ mmproj: model }, "model_unsupported"],
      [{ mmproj: path.join(folder, "none.gguf") }, "model_not_found"],
      [{ mmproj: damaged }, "model_invalid"],
      [{ mmproj: projector, imageMinTokens: 9, imageMaxTokens: 8 }, "invalid_request"],
      [{ imageMaxTokens: 8 }, "invalid_request"],
    ];
    for (const [options, code] of refusals)
      await expect(load(model, { threads: 1, ...options }), code).rejects.toMatchObject({ code });
  });

  it("are refused with the right reason, even while another model is measured", async () => {
    const { model, projector } = await tinyVisionModel({ architecture: "lfm2" });
    const wide = await tinyVisionModel({ architecture: "lfm2", embedding: 128 });
    const options = { threads: 1, contextLength: 256 };
    const over = new AbortController();
    const measure = async (): Promise<void> => {
      const budget = { byMemory: {}, totalBytes: 2 ** 40 };
      while (!over.signal.aborted) await fitModel(model, { ...options, mmproj: projector }, { budget });
    };
    const measuring = [measure(), measure()];
    try {
      for (let round = 0; round < 8; round += 1)
        await expect(load(model, { ...options, mmproj: wide.projector })).rejects.toMatchObject({
          code: "projector_mismatch",
        });
    } finally {
      over.abort();
      await Promise.all(measuring);
    }
  });
});
