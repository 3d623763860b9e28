// The in-process library interface for models that read images: load, applyChatTemplate, generate and streamGenerate with one or several
// images.
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import {
  applyChatTemplate,
  generate,
  importModels,
  load,
  streamGenerate,
  type GenerateParameters,
  type LoadedModel,
} from "@ingle/engine";
import {
  drawImage,
  encodePng,
  exactArithmetic,
  tinyModel,
  tinyVisionModel,
  type Motif,
} from "@ingle/fixtures";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";

const architectures = ["lfm2", "gemma3", "qwen2vl"] as const;
const settings = { threads: 1, contextLength: 2048, ...exactArithmetic } as const;

let folder = "";
let png: Record<"disc" | "checks" | "gradient", Buffer>;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-images-"));
  vi.stubEnv("INGLE_HOME", path.join(folder, "home"));
  vi.stubEnv("INGLE_OFFLINE", "1");
  const draw = (motif: Motif): Promise<Buffer> => encodePng(drawImage(motif, 96, 64));
  png = { disc: await draw("disc"), checks: await draw("checks"), gradient: await draw("gradient") };
  await importTiny("lfm2");
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** A folder with a model and its projector, like a download from the hub, named after the architecture. */
async function importTiny(architecture: (typeof architectures)[number]): Promise<void> {
  const { model, projector } = await tinyVisionModel({ architecture, weights: "f32" });
  const place = await mkdtemp(path.join(folder, "model-"));
  await copyFile(model, path.join(place, `seeing-${architecture}.gguf`));
  await copyFile(projector, path.join(place, `mmproj-${architecture}.gguf`));
  await importModels(place, { alias: architecture });
}

/** A user's message; each word "image" becomes an image part. */
const question = (...content: string[]) => [
  {
    role: "user",
    content: content.map((part) =>
      part === "image" ? { type: "image" as const } : { type: "text" as const, text: part },
    ),
  },
];

describe("load(visionModelId)", () => {
  it("returns { model, processor } for a model that was installed with its projector", async () => {
    await using loaded = await load("lfm2", settings);
    const { model, tokenizer, processor } = loaded;
    expect(model.info.readsImages).toBe(true);
    expect(processor).toBe(model.processor);
    expect(processor?.tokenizer).toBe(tokenizer);
  });

  it("returns no processor with mmproj: null, or for a model that reads only text", async () => {
    await using blind = await load("lfm2", { ...settings, mmproj: null });
    expect(blind.processor).toBeNull();
    await using text = await load(await tinyModel(), settings);
    expect(text.processor).toBeNull();
  });

  it("uses the given projector, for a path and for a name", async () => {
    const { model, projector } = await tinyVisionModel({ architecture: "gemma3" });
    await using named = await load(model, { ...settings, mmproj: projector });
    expect(named.processor).not.toBeNull();
    const mismatch = load("lfm2", { ...settings, mmproj: path.join(folder, "none.gguf") });
    await expect(mismatch).rejects.toMatchObject({ code: "model_not_found" });
  });
});

describe.each(architectures)("with a model of %s", (architecture) => {
  let loaded: LoadedModel;
  beforeAll(async () => {
    if (architecture !== "lfm2") await importTiny(architecture);
    loaded = await load(architecture, settings);
  });
  afterAll(() => loaded[Symbol.asyncDispose]());

  const prompt = (...content: string[]): Promise<string> =>
    applyChatTemplate(loaded.processor, question(...content));
  const say = async (parameters: Omit<GenerateParameters, "prompt">, ...content: string[]): Promise<string> =>
    generate(loaded.model, loaded.processor, {
      prompt: await prompt(...content),
      temperature: 0,
      maxTokens: 16,
      ...parameters,
    });

  it("applyChatTemplate(processor, messages) writes a marker at the position of each image", async () => {
    const marker = loaded.processor?.imageMarker ?? "";
    const one = await prompt("image", "What is this?");
    expect(one.split(marker)).toHaveLength(2);
    expect(one.indexOf(marker)).toBeLessThan(one.indexOf("What is this?"));
    const two = await prompt("What is this,", "image", "and this?", "image");
    expect(two.split(marker)).toHaveLength(3);
    expect(two.indexOf("What is this,")).toBeLessThan(two.indexOf(marker));
    const closed = await applyChatTemplate(loaded.processor, question("image", "What is this?"), {
      addGenerationPrompt: false,
    });
    expect(one.startsWith(closed)).toBe(true);
    expect(one.length).toBeGreaterThan(closed.length);
  });

  it("generate(model, processor, { images, prompt }) reads one or several images in order", async () => {
    const { disc, checks } = png;
    const texts = [
      await say({ images: disc }, "image", "What is this?"),
      await say({ images: checks }, "image", "What is this?"),
      await say({ images: [disc, checks] }, "image", "image", "What is this?"),
      await say({ images: [checks, disc] }, "image", "image", "What is this?"),
      await say({}, "What is this?"),
    ];
    expect(new Set(texts).size).toBe(texts.length);
    expect(await say({ images: [disc] }, "image", "What is this?")).toBe(texts[0]);
  });

  it("returns the same text as model.generate({ messages })", async () => {
    const parts = [
      { type: "image" as const, image: drawImage("disc", 96, 64) },
      { type: "text" as const, text: "What is this?" },
    ];
    const messages = [{ role: "user", content: parts }];
    const { text } = await loaded.model.generate({ messages, temperature: 0, maxTokens: 16 });
    expect(await say({ images: png.disc }, "image", "What is this?")).toBe(text);
  });

  it("streamGenerate yields the same text in pieces", async () => {
    const request = {
      prompt: await prompt("image", "What is this?"),
      images: png.disc,
      temperature: 0,
      maxTokens: 16,
    };
    const pieces: string[] = [];
    for await (const piece of streamGenerate(loaded.model, loaded.processor, request)) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join("")).toBe(await generate(loaded.model, loaded.processor, request));
  });
});

describe("generate(model, processor, { images, prompt, verbose, … })", () => {
  let loaded: LoadedModel;
  let prompt: string;
  beforeAll(async () => {
    loaded = await load("lfm2", settings);
    prompt = await applyChatTemplate(loaded.processor, question("image", "What is this?"));
  });
  afterAll(() => loaded[Symbol.asyncDispose]());

  const say = (parameters: Partial<GenerateParameters>): Promise<string> =>
    generate(loaded.model, loaded.processor, { prompt, images: png.disc, maxTokens: 12, ...parameters });

  it("accepts an image as a path, a file: or data: URL, bytes or a Blob", async () => {
    const file = path.join(folder, "disc.png");
    await writeFile(file, png.disc);
    const expected = await say({ temperature: 0 });
    const data = `data:image/png;base64,${png.disc.toString("base64")}`;
    const bytes = Uint8Array.from(png.disc);
    const sources = [file, pathToFileURL(file), pathToFileURL(file).href, data, new URL(data), bytes];
    const all = [...sources, bytes.buffer, new Blob([bytes])];
    for (const [index, images] of all.entries())
      expect(await say({ temperature: 0, images }), `source ${index}`).toBe(expected);
  });

  it("accepts every parameter of text generation", async () => {
    const greedy = await say({ temperature: 0 });
    for (const narrow of [{ topK: 1 }, { topP: 1e-9 }, { minP: 1 }])
      expect(await say({ temperature: 2, seed: 9, ...narrow })).toBe(greedy);
    expect(await say({ seed: 5 })).toBe(
      await say({ seed: 5, temperature: 1, topP: 1, topK: 50, repeatPenalty: 1 }),
    );
    expect(await say({ seed: 5 })).not.toBe(await say({ seed: 6 }));
    const [favoured = 0] = (await loaded.tokenizer.encode("winter", { addSpecial: false })).slice(-1);
    const favouring = { temperature: 0, maxTokens: 60, logitBias: { [favoured]: 20 } };
    const winters = async (repeatPenalty: number): Promise<number> =>
      (await say({ ...favouring, repeatPenalty })).split("winter").length;
    expect(await winters(4)).toBeLessThan(await winters(1));
    const before = loaded.model.stats().generatedTokens;
    await say({ maxTokens: 5, ignoreEos: true });
    expect(loaded.model.stats().generatedTokens - before).toBe(5);
  });

  it("prints the prompt with its marker, the pieces and the speeds with verbose", async () => {
    const written: string[] = [];
    vi.spyOn(process.stdout, "write").mockImplementation((text) => written.push(String(text)) > 0);
    const request = { prompt, images: png.disc, temperature: 0, maxTokens: 12, cachePrompt: false };
    const text = await generate(loaded.model, loaded.processor, { ...request, verbose: true });
    expect(written[0]).toBe(`${prompt}\n==========\n`);
    expect(prompt).toContain(loaded.processor?.imageMarker);
    const whole = written.join("");
    expect(whole).toContain(`==========\n${text}\n==========\nPrompt: `);
    // The image's tokens are counted.
    const words = (await loaded.tokenizer.encode(prompt)).length;
    const counted = /^Prompt: (\d+) tokens, [\d.]+ tokens\/s$/m.exec(whole)?.[1];
    expect(Number(counted)).toBeGreaterThan(words);
    expect(whole).toMatch(/^Generation: 12 tokens, [\d.]+ tokens\/s$/m);
  });

  it("reports the numbers of images and markers if they differ", async () => {
    const two = await applyChatTemplate(loaded.processor, question("image", "image", "What are these?"));
    const { disc } = png;
    const counts: [Partial<GenerateParameters>, number, number][] = [
      [{ images: [] }, 0, 1],
      [{ images: undefined }, 0, 1],
      [{ images: [disc, disc] }, 2, 1],
      [{ prompt: two }, 1, 2],
      [{ prompt: two, images: [disc, disc, disc] }, 3, 2],
      [{ prompt: "What is this?" }, 1, 0],
    ];
    for (const [parameters, images, markers] of counts) {
      await expect(say(parameters)).rejects.toMatchObject({
        code: "invalid_request",
        details: { param: "images", images, markers },
        message: expect.stringMatching(new RegExp(`there are ${images}, .*prompt has ${markers} markers`)),
      });
    }
  });

  it("reports the problem with an image and its index", async () => {
    const text = path.join(folder, "words.txt");
    await writeFile(text, "These are words.");
    const missing = path.join(folder, "missing.png");
    const wrong: [GenerateParameters["images"], string, RegExp][] = [
      [missing, "image_invalid", /missing\.png/],
      [pathToFileURL(missing), "image_invalid", /missing\.png/],
      [folder, "image_invalid", /not a regular file/],
      [text, "image_invalid", /JPEG/],
      [Buffer.alloc(0), "image_invalid", /JPEG/],
      [new Blob([]), "image_invalid", /JPEG/],
      [png.disc.subarray(0, 60), "image_invalid", /damaged/],
      ["data:image/png;base64,*", "image_invalid", /base64/],
      ["https://example.com/duck.jpg", "image_invalid", /not fetched/],
      [new URL("http://127.0.0.1:9/duck.jpg"), "image_invalid", /not fetched/],
      ["file://elsewhere/duck.jpg", "image_invalid", /elsewhere/],
    ];
    for (const [images, code, message] of wrong) {
      const refused = { code, message: expect.stringMatching(message), details: { image: 0 } };
      await expect(say({ images }), message.source).rejects.toMatchObject(refused);
    }
    await expect(say({ images: [png.disc, missing] })).rejects.toMatchObject({ details: { image: 1 } });
    const nothing = JSON.parse('[5, null, "", {}]');
    for (const images of nothing) {
      const refused = { code: "invalid_request", details: { param: "images" } };
      await expect(say({ images })).rejects.toMatchObject(refused);
    }
    await expect(say({ images: Array.from({ length: 65 }, () => png.disc) })).rejects.toMatchObject({
      code: "image_too_large",
    });
  });

  it("rejects with the signal's reason, before and while the image is processed", async () => {
    const reason = new Error("enough");
    await expect(say({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const large = await encodePng(drawImage("gradient", 1200, 1200));
    const asked = say({ images: large, signal: controller.signal });
    setTimeout(() => controller.abort(reason), 10);
    await expect(asked).rejects.toBe(reason);
    await expect.poll(() => loaded.model.stats().running).toBe(0);
    expect(await say({ temperature: 0 })).not.toBe("");
  });

  it("treats the marker as text with the tokenizer or in messages", async () => {
    const { imageMarker = "" } = loaded.processor ?? {};
    const text = `What is ${imageMarker}?`;
    await expect(applyChatTemplate(loaded.processor, question(text))).rejects.toMatchObject({
      code: "invalid_request",
      details: { param: "messages" },
    });
    const { model, tokenizer } = loaded;
    expect(await generate(model, tokenizer, { prompt: text, maxTokens: 2, ignoreEos: true })).not.toBe("");
  });

  it("reports whether it needs the tokenizer or the processor", async () => {
    await using text = await load(await tinyModel(), settings);
    const unsupported = { code: "image_not_supported", message: expect.stringMatching(/mmproj/) };
    const images = png.disc;
    await expect(applyChatTemplate(text.processor, question("image"))).rejects.toMatchObject(unsupported);
    for (const reader of [text.processor, text.tokenizer])
      await expect(generate(text.model, reader, { prompt, images })).rejects.toMatchObject(unsupported);
    const stream = streamGenerate(text.model, text.processor, { prompt, images });
    await expect(stream.next()).rejects.toMatchObject(unsupported);

    const { model, tokenizer } = loaded;
    for (const reader of [tokenizer, text.tokenizer])
      await expect(generate(model, reader, { prompt, images })).rejects.toMatchObject({
        code: "invalid_request",
      });
    await using other = await load("lfm2", settings);
    await expect(generate(model, other.processor, { prompt, images })).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("another model"),
    });
  });

  it("refuses invalid messages, and images with tokens or a suffix", async () => {
    for (const messages of JSON.parse(
      '[[], [{"role":"user"}], [{"role":"user","content":[{"type":"video"}]}]]',
    ))
      await expect(applyChatTemplate(loaded.processor, messages)).rejects.toMatchObject({
        code: "invalid_request",
      });
    const tokens = await loaded.tokenizer.encode("What is this?");
    const refused = { code: "invalid_request", details: { param: "images" } };
    await expect(say({ prompt: tokens })).rejects.toMatchObject(refused);
    await expect(say({ suffix: "and so on" })).rejects.toMatchObject(refused);
    expect(await say({ prompt: tokens, images: undefined, temperature: 0, ignoreEos: true })).not.toBe("");
  });
});
