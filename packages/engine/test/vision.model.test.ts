// Models that read images, from messages to texts: hybrid with tiles (LFM2-VL), images computed whole (Gemma 3), and positions
// in two dimensions (Qwen2-VL).
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

/** Stripes and blots that no other number's image has. */
function picture(number: number, width = 96, height = 64): RgbImage {
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

  it("says that it does", () => {
    expect(loaded.model.info.readsImages).toBe(true);
  });

  it("answers by what it sees, in whatever order", async () => {
    const texts = [];
    for (const parts of [
      ["What is this?", picture(1)],
      ["What is this?", picture(2)],
      [picture(1), "What is this?"],
      [picture(1), "What is this?", picture(2), picture(3, 40, 120)],
    ]) {
      const { text, usage } = await ask([user(...parts)]);
      expect(usage.completionTokens).toBe(16);
      texts.push(text);
    }
    expect(new Set(texts).size).toBe(texts.length);
  });

  it("counts an image's tokens, and computes and encodes what is new in the next turn of a chat", async () => {
    const first: Message[] = [user("Here is a long enough beginning. ", picture(7), "What is this?")];
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
      user(picture(8), "And this?"),
    ]);
    // A hybrid model's state was saved where the image ends, at least.
    expect(third.usage.cachedTokens).toBeGreaterThan(words.usage.promptTokens);
    expect(loaded.model.stats().imagesEncoded).toBeGreaterThan(imagesEncoded);
  });

  it("treats the marker in a message as text", async () => {
    for (const word of ["<__media__>", "<image>", "picture1234567890", "<start_of_image>", "<|image_pad|>"]) {
      const { usage } = await ask([{ role: "user", content: `${word} and ${word}` }], { maxTokens: 2 });
      expect(usage.promptTokens).toBeLessThan(100);
      await ask([user(word, picture(1), word)], { maxTokens: 2 });
    }
  });

  it("gives the same texts to many at once", async () => {
    const chats = Array.from({ length: 8 }, (_, index): Message[] => [
      user(
        `Number ${index} of the same long beginning. `,
        ...(index % 3 === 0 ? [] : [picture(index % 2)]),
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
      { messages: [user(picture(99, 900, 900))] },
      { signal: controller.signal },
    );
    setTimeout(() => controller.abort(new Error("enough")), 20);
    await expect(generation).rejects.toThrow("enough");
    expect((await ask([user(picture(1), "What is this?")])).usage.completionTokens).toBe(16);
  });

  it("refuses more than the context holds, with the numbers", async () => {
    const many = Array.from({ length: 60 }, (_, index) => picture(index, 500, 500));
    const refused = ask([user(...many)]);
    if (architecture === "gemma3") return void (await refused); // 60 of 16 tokens fit
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
      loaded.model.generate({ messages: [user(picture(3, 1000, 1000), "What is this?")], maxTokens: 1 }),
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
        messages: [user(picture(number, 256, 256))],
        maxTokens: 1,
        cachePrompt: false,
      });
    };
    for (let number = 0; number < 20; number += 1) await see(number);
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    for (let number = 20; number < 220; number += 1) await see(number);
    globalThis.gc?.();
    // Their scaled pixels alone are 157 MB; what is kept of each are 16 kB.
    expect(process.memoryUsage().rss - before).toBeLessThan(80e6);
    expect(loaded.model.stats().cellsUsed).toBe(0);
  }, 120_000);

  it("has its projector's memory counted", async () => {
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
      const prompt = await loaded.model.promptTokens({ messages: [user(picture(1, 300, 300))] });
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

  it("are refused by a model that reads none", async () => {
    await using loaded = await load(await tinyModel(), { threads: 1 });
    expect(loaded.model.info.readsImages).toBe(false);
    await expect(loaded.model.generate({ messages: [user(picture(1))] })).rejects.toMatchObject({
      code: "image_not_supported",
    });
  });

  it("are refused with their place when their bytes are not their pixels", async () => {
    await using loaded = await loadSeeing("gemma3");
    const wrong = { width: 4, height: 4, data: new Uint8Array(47) };
    expect(() => loaded.model.generate({ messages: [user("see", wrong)] })).toThrow(/messages/u);
  });

  it("are none for a projector of another model, for no projector, and for a damaged one", async () => {
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

  it("are none for the reason that is told, whatever is measured at the same time", async () => {
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
