// The in-process library interface: load, the chat template, generate with each of its parameters, and streamGenerate.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  checkGenerationRequest,
  generate,
  importModels,
  load,
  streamGenerate,
  type LoadedModel,
} from "@ingle/engine";
import { exactArithmetic, tinyModel } from "@ingle/fixtures";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";

const messages = [{ role: "user", content: "Tell me of rivers." }];

let home = "";
let loaded: LoadedModel;
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-library-"));
  vi.stubEnv("INGLE_HOME", home);
  vi.stubEnv("INGLE_OFFLINE", "1");
  await importModels(await tinyModel({ weights: "f32" }), { alias: "tiny-instruct" });
  loaded = await load("tiny-instruct", { threads: 1, contextLength: 2048, ...exactArithmetic });
});
afterAll(async () => {
  await loaded[Symbol.asyncDispose]();
  vi.unstubAllEnvs();
  await rm(home, { recursive: true });
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe("load(modelId)", () => {
  it("returns { model, tokenizer }", () => {
    const { model, tokenizer } = loaded;
    expect(model.info.hasChatTemplate).toBe(true);
    expect(model.tokenizer).toBe(tokenizer);
  });
});

describe("tokenizer.applyChatTemplate(messages, { tokenize: false, addGenerationPrompt: true })", () => {
  it("returns the prompt as a string that ends where the assistant's reply begins", async () => {
    const { tokenizer } = loaded;
    const options = { tokenize: false, addGenerationPrompt: true } as const;
    const prompt = await tokenizer.applyChatTemplate(messages, options);
    expect(prompt).toMatch(/Tell me of rivers\.[^]*<\|im_start\|>assistant\n$/);
    expect(await tokenizer.applyChatTemplate(messages)).toBe(prompt);
    const open = await tokenizer.applyChatTemplate(messages, { addGenerationPrompt: false });
    expect(prompt.startsWith(open)).toBe(true);
    expect(open).not.toContain("assistant");
  });

  it("reports unsupported options", async () => {
    const asked = loaded.tokenizer.applyChatTemplate(messages, JSON.parse('{"tokenize":true}'));
    await expect(asked).rejects.toMatchObject({ code: "invalid_request", details: { param: "tokenize" } });
  });
});

describe("generate(model, tokenizer, { prompt, verbose, temperature, topP, topK, minP, repeatPenalty, maxTokens })", () => {
  const say = (parameters: Omit<Parameters<typeof generate>[2], "prompt">): Promise<string> =>
    generate(loaded.model, loaded.tokenizer, { prompt: "Rivers are", maxTokens: 24, ...parameters });

  it("returns the generated text with all parameters", async () => {
    const prompt = await loaded.tokenizer.applyChatTemplate(messages);
    const text = await generate(loaded.model, loaded.tokenizer, {
      prompt,
      verbose: false,
      temperature: 0.3,
      topP: 0.9,
      topK: 50,
      minP: 0.15,
      repeatPenalty: 1.05,
      maxTokens: 12,
    });
    expect(text).not.toBe("");
    expect(text).not.toContain("Tell me of rivers.");
  });

  it("defaults to temperature 1.0, top_p 1.0, top_k 50 and repetition_penalty 1.0", async () => {
    expect(checkGenerationRequest({ prompt: "x" })).toMatchObject({
      temperature: 1,
      topP: 1,
      topK: 50,
      minP: 0,
      repeatPenalty: 1,
    });
    const defaults = { temperature: 1, topP: 1, topK: 50, repeatPenalty: 1 };
    expect(await say({ seed: 5 })).toBe(await say({ seed: 5, ...defaults }));
    expect(await say({ seed: 5 })).not.toBe(await say({ seed: 6 }));
  });

  it("is deterministic at temperature 0, whatever the seed", async () => {
    const greedy = await say({ temperature: 0 });
    expect(await say({ temperature: 0 })).toBe(greedy);
    expect(await say({ temperature: 0, seed: 8 })).toBe(greedy);
  });

  it.each([
    ["topK", { topK: 1 }],
    ["topP", { topP: 1e-9 }],
    ["minP", { minP: 1 }],
  ])("keeps the likeliest token alone with the narrowest %s", async (_, narrow) => {
    expect(await say({ temperature: 2, seed: 9, ...narrow })).toBe(await say({ temperature: 0 }));
  });

  it("repeats itself less with a repeatPenalty above 1", async () => {
    const [favoured = 0] = (await loaded.tokenizer.encode("winter", { addSpecial: false })).slice(-1);
    const favouring = { temperature: 0, maxTokens: 60, logitBias: { [favoured]: 20 } };
    const count = async (repeatPenalty: number): Promise<number> =>
      (await say({ ...favouring, repeatPenalty })).split("winter").length - 1;
    expect(await count(4)).toBeLessThan(await count(1));
  });

  it("ends after maxTokens, or by default at the context's end", async () => {
    const prompt = (await loaded.tokenizer.encode("word ".repeat(2_100))).slice(0, 2_000);
    const tokens = async (maxTokens?: number): Promise<number> => {
      const before = loaded.model.stats().generatedTokens;
      await generate(loaded.model, loaded.tokenizer, { prompt, ignoreEos: true, maxTokens });
      return loaded.model.stats().generatedTokens - before;
    };
    expect(await tokens(5)).toBe(5);
    expect(await tokens()).toBe(48);
  });

  it("prints the prompt, the pieces and the speeds with verbose, and nothing without it", async () => {
    const written: string[] = [];
    vi.spyOn(process.stdout, "write").mockImplementation((text) => written.push(String(text)) > 0);
    const greedy = { temperature: 0, cachePrompt: false };
    const text = await say({ ...greedy, verbose: true });
    const prompt = await loaded.tokenizer.encode("Rivers are");
    await generate(loaded.model, loaded.tokenizer, { prompt, ...greedy, maxTokens: 2, verbose: true });
    const [first, ...others] = written;
    expect(first).toBe("Rivers are\n==========\n");
    expect(others.findIndex((piece) => piece.includes("tokens/s"))).toBeGreaterThan(2);
    const whole = written.join("");
    expect(whole).toContain(`Rivers are\n==========\n${text}\n==========\nPrompt: ${prompt.length} tokens, `);
    expect(whole.match(/^(Prompt|Generation): \d+ tokens, [\d.]+ tokens\/s$/gm)).toHaveLength(4);
    expect(whole.lastIndexOf("Rivers are\n")).toBeGreaterThan(0); // token ids are printed as their text
    const { length } = written;
    await say(greedy);
    expect(written).toHaveLength(length);
  });
});

describe("streamGenerate(model, tokenizer, { prompt, maxTokens })", () => {
  it("yields the pieces of the text as they are generated", async () => {
    const { model, tokenizer } = loaded;
    const request = { prompt: "Rivers are", temperature: 0, maxTokens: 24 };
    const pieces: string[] = [];
    for await (const piece of streamGenerate(model, tokenizer, request)) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join("")).toBe(await generate(model, tokenizer, request));
  });

  it("cancels the generation when the loop is left", async () => {
    const { model, tokenizer } = loaded;
    const before = model.stats().generatedTokens;
    for await (const _ of streamGenerate(model, tokenizer, { prompt: "Rivers", ignoreEos: true })) break;
    await expect.poll(() => model.stats().running).toBe(0);
    expect(model.stats().generatedTokens - before).toBeLessThan(2_000); // the context has room for more
  });

  it("refuses the tokenizer of another model", async () => {
    await using other = await load("tiny-instruct", { threads: 1, contextLength: 64 });
    const stream = streamGenerate(loaded.model, other.tokenizer, { prompt: "Rivers" });
    await expect(stream.next()).rejects.toMatchObject({ code: "invalid_request" });
  });
});
