// Generations: deterministic where promised, ended by their limits, and the same whether iterated or awaited.
import { generate, streamGenerate, type LoadedModel } from "@ingle/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadExact, loadTiny, prompts, within } from "./tiny.ts";

/** Waits for the end of the steps that copy ahead after a reply. */
async function resting({ model }: LoadedModel): Promise<void> {
  let before = -1;
  await expect.poll(() => before === (before = model.stats().steps), { interval: 100 }).toBe(true);
}

describe("generating text", () => {
  let loaded: LoadedModel;
  beforeAll(async () => {
    loaded = await loadExact({ contextLength: 512 });
  });
  afterAll(() => loaded[Symbol.asyncDispose]());

  it("is deterministic at temperature 0", async () => {
    for (const prompt of prompts(3)) {
      const first = await loaded.model.generate({ prompt, temperature: 0, maxTokens: 40 });
      const second = await loaded.model.generate({ prompt, temperature: 0, maxTokens: 40 });
      expect(second.text).toBe(first.text);
      expect(first.usage.completionTokens).toBe(40);
    }
  });

  it("is the same with the same seed and differs with another", async () => {
    const say = async (seed: number): Promise<string> =>
      (await loaded.model.generate({ prompt: "A story:", temperature: 1, seed, maxTokens: 30 })).text;
    const first = await say(7);
    expect(await say(7)).toBe(first);
    expect(await say(8)).not.toBe(first);
    expect(await say(7 + 2 ** 32)).not.toBe(first);
    expect(await say(-7)).toBe(await say(-7));
  });

  it("differs between calls without a seed", async () => {
    const texts = await Promise.all(
      Array.from(
        { length: 4 },
        async () => (await loaded.model.generate({ prompt: "A story:", maxTokens: 20 })).text,
      ),
    );
    expect(new Set(texts).size).toBe(4);
  });

  it("returns the same text iterated and awaited", async () => {
    const request = { prompt: "The harbour", temperature: 0, maxTokens: 50 };
    const generation = loaded.model.generate(request);
    let streamed = "";
    let tokens = 0;
    for await (const chunk of generation) {
      streamed += chunk.text;
      tokens += chunk.tokens;
    }
    const result = await generation;
    expect(streamed).toBe(result.text);
    expect(tokens).toBeLessThanOrEqual(result.usage.completionTokens);
    expect((await loaded.model.generate(request)).text).toBe(streamed);
  });

  it("finishes with `length` at maxTokens, and reports its usage", async () => {
    const { finishReason, usage, timings } = await loaded.model.generate({
      prompt: "One two",
      maxTokens: 5,
      cachePrompt: false, // other tests' prompts begin with the same first token
    });
    expect(finishReason).toBe("length");
    const promptTokens = (await loaded.tokenizer.encode("One two")).length;
    expect(usage).toEqual({
      promptTokens,
      audioTokens: 0,
      completionTokens: 5,
      reasoningTokens: 0,
      cachedTokens: 0,
      droppedTokens: 0,
      draftedTokens: 0,
      acceptedTokens: 0,
    });
    expect(timings.promptMs).toBeGreaterThan(0);
    expect(timings.predictedMs).toBeGreaterThan(0);
  });

  it("counts where the time of its steps goes, which is never more than there was", async () => {
    await resting(loaded);
    const before = loaded.model.stats();
    const begin = performance.now();
    await loaded.model.generate({ prompt: "One two three", maxTokens: 20, cachePrompt: false });
    const microseconds = (performance.now() - begin) * 1000;
    const after = loaded.model.stats();
    const phases = [
      "scheduleUs",
      "cacheUs",
      "graphUs",
      "launchUs",
      "waitUs",
      "sampleUs",
      "publishUs",
    ] as const;
    const spent = phases.map((phase) => after[phase] - before[phase]);
    expect(Math.min(...spent)).toBeGreaterThanOrEqual(0);
    expect(after.launchUs - before.launchUs).toBeGreaterThan(0);
    expect(spent.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(microseconds);
    // On a processor, all logits of the 20 tokens.
    expect(after.outputBytes - before.outputBytes).toBe(20 * 4 * loaded.model.info.vocabularySize);
  });

  it("counts a prompt's tokens without computing it, before the first piece", async () => {
    const chat = { messages: [{ role: "user", content: "One two" }], maxTokens: 1 };
    for (const request of [{ prompt: "One two", maxTokens: 1 }, chat]) {
      await resting(loaded);
      const { promptTokens, steps } = loaded.model.stats();
      const counted = (await loaded.model.promptTokens(request)).length;
      expect(loaded.model.stats()).toMatchObject({ promptTokens, steps });
      const generation = loaded.model.generate(request);
      expect(generation.promptTokens).toBeUndefined();
      for await (const _ of generation) expect(generation.promptTokens).toBe(counted);
      expect((await generation).usage.promptTokens).toBe(counted);
    }
  });

  it("finishes with `length` at the context's end", async () => {
    const tokens = await loaded.tokenizer.encode("word ".repeat(600));
    const prompt = tokens.slice(0, 500);
    const { finishReason, usage } = await loaded.model.generate({ prompt });
    expect(finishReason).toBe("length");
    expect(usage).toMatchObject({ promptTokens: 500, completionTokens: 12 });
  });

  it("finishes with `stop` when the model ends its text, and continues with ignoreEos", async () => {
    await using ending = await loadTiny({ contextLength: 1024 }, { endAfter: 8 });
    const results = await Promise.all(
      prompts(8).map((prompt, seed) => ending.model.generate({ prompt, seed, maxTokens: 400 })),
    );
    expect(results.map((result) => result.finishReason)).toContain("stop");
    const stopped = results.find((result) => result.finishReason === "stop");
    expect(stopped?.usage.completionTokens).toBeLessThan(400);
    const going = await ending.model.generate({ prompt: "on", seed: 1, maxTokens: 200, ignoreEos: true });
    expect(going).toMatchObject({ finishReason: "length", usage: { completionTokens: 200 } });
  });

  it("ends before a stop string however it is split into tokens, and never shows a part of it", async () => {
    const request = { prompt: "The lantern", temperature: 0, maxTokens: 60 };
    const { text } = await loaded.model.generate(request);
    for (let start = 3; start < text.length - 8; start += 7) {
      const stop = text.slice(start, start + 6);
      const generation = loaded.model.generate({ ...request, stop: ["never in it ☃", stop] });
      const shown: string[] = [];
      for await (const chunk of generation) shown.push(chunk.text);
      const result = await generation;
      expect(result.text).toBe(text.slice(0, text.indexOf(stop)));
      expect(shown.join("")).toBe(result.text);
      expect(result).toMatchObject({ finishReason: "stop", stop });
    }
  });

  it("bans a token with a low bias and prefers one with a high bias", async () => {
    const { text } = await loaded.model.generate({ prompt: "Say", temperature: 0, maxTokens: 1 });
    const wanted = (await loaded.tokenizer.encode("winter", { addSpecial: false }))[0] ?? 0;
    const first = (await loaded.tokenizer.encode(text, { addSpecial: false })).at(-1) ?? 0;
    const biased = await loaded.model.generate({
      prompt: "Say",
      temperature: 0,
      maxTokens: 1,
      logitBias: { [first]: -100, [wanted]: 100 },
    });
    expect(biased.text.trim()).toBe((await loaded.tokenizer.decode([wanted])).trim());
  });

  it("repeats a favoured token less with penalties", async () => {
    const favoured = (await loaded.tokenizer.encode("winter", { addSpecial: false })).at(-1) ?? 0;
    const occurrences = async (extra: object): Promise<number> => {
      const { text } = await loaded.model.generate({
        prompt: "a",
        temperature: 0,
        maxTokens: 100,
        logitBias: { [favoured]: 20 },
        ...extra,
      });
      return text.split("winter").length - 1;
    };
    const plain = await occurrences({});
    expect(plain).toBeGreaterThan(90);
    expect(await occurrences({ repeatPenalty: 4, repeatLastN: 100 })).toBeLessThan(plain / 2);
    expect(await occurrences({ frequencyPenalty: 2, repeatLastN: 100 })).toBeLessThan(plain / 2);
    expect(await occurrences({ frequencyPenalty: 2, repeatLastN: 0 })).toBe(plain);
  });

  it("chooses the most likely token with top_k 1, as with temperature 0", async () => {
    const greedy = await loaded.model.generate({ prompt: "Copper", temperature: 0, maxTokens: 20 });
    const narrow = await loaded.model.generate({ prompt: "Copper", temperature: 1, topK: 1, maxTokens: 20 });
    const narrower = await loaded.model.generate({
      prompt: "Copper",
      temperature: 5,
      topP: 1e-9,
      maxTokens: 20,
    });
    expect([narrow.text, narrower.text]).toEqual([greedy.text, greedy.text]);
  });

  it("refuses a prompt that does not fit, and reports the numbers", async () => {
    const prompt = "word ".repeat(600);
    const promptTokens = (await loaded.tokenizer.encode(prompt)).length;
    const generation = loaded.model.generate({ prompt });
    await expect(Promise.resolve(generation)).rejects.toMatchObject({
      code: "context_length_exceeded",
      details: { promptTokens, contextLength: 512 },
    });
  });

  it("refuses tokens outside the vocabulary and parameters outside their range, naming them", async () => {
    await expect(Promise.resolve(loaded.model.generate({ prompt: [1, 32_000] }))).rejects.toMatchObject({
      code: "invalid_request",
      details: { param: "prompt" },
    });
    await expect(
      Promise.resolve(loaded.model.generate({ prompt: Int32Array.of(5, -7) })),
    ).rejects.toMatchObject({ code: "invalid_request" });
    expect(() => loaded.model.generate({ prompt: "x", topP: -0.1 })).toThrow(/topP/);
    expect(() => loaded.model.generate({ prompt: "x", temperature: Number.NaN })).toThrow(/temperature/);
    expect(() => loaded.model.generate({ prompt: "x", topP: 1.1 })).toThrow(/topP/);
  });

  it("formats a conversation with the model's own template", async () => {
    const prompt = await loaded.tokenizer.applyChatTemplate(
      [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hello 🌍" },
      ],
      { tokenize: false, addGenerationPrompt: true },
    );
    expect(prompt).toContain("<|im_start|>system\nBe brief.<|im_end|>");
    expect(prompt.endsWith("<|im_start|>assistant\n")).toBe(true);
    const asText = await loaded.model.generate({ prompt, temperature: 0, maxTokens: 10 });
    const asChat = await loaded.model.generate({
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hello 🌍" },
      ],
      temperature: 0,
      maxTokens: 10,
    });
    expect(asChat.text).toBe(asText.text);
  });

  it("throws template_failed if the model's template rejects a conversation", async () => {
    await using picky = await loadTiny(
      { contextLength: 256 },
      { chatTemplate: "{{ raise_exception('Only poems, please.') }}" },
    );
    const generation = picky.model.generate({ messages: [{ role: "user", content: "Hello" }] });
    await expect(Promise.resolve(generation)).rejects.toMatchObject({ code: "template_failed" });
    await expect(Promise.resolve(generation)).rejects.toThrow("Only poems, please.");
  });

  it("converts text to tokens and back", async () => {
    const text = "Ünïcode, 漢字 and 🧭 survive.";
    const tokens = await loaded.tokenizer.encode(text, { addSpecial: false });
    expect((await loaded.tokenizer.decode(tokens)).trim()).toBe(text);
    await expect(loaded.tokenizer.decode([99_999])).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("returns the bytes of each token, and special tokens as text", async () => {
    const tokens = await loaded.tokenizer.encode("漢字 and 🧭");
    const pieces = await loaded.tokenizer.pieces(tokens);
    expect(pieces).toHaveLength(tokens.length);
    expect(Buffer.concat(pieces).toString()).toBe("<s> 漢字 and 🧭");
    expect(await loaded.tokenizer.pieces([])).toEqual([]);
    for (const outside of [99_999, -1, 2 ** 32 + 1, 0.5, NaN]) {
      const refused = { code: "invalid_request", details: { param: "tokens" } };
      await expect(loaded.tokenizer.pieces([1, outside])).rejects.toMatchObject(refused);
      await expect(loaded.tokenizer.decode([outside])).rejects.toMatchObject(refused);
    }
  });

  it("returns the tokens of a prompt without computing it", async () => {
    const { model, tokenizer } = loaded;
    const messages = [{ role: "user", content: "Hello" }];
    const { usage } = await model.generate({ messages, maxTokens: 1 });
    expect(await model.promptTokens({ messages })).toHaveLength(usage.promptTokens);
    expect(await model.promptTokens({ prompt: "One two" })).toEqual(await tokenizer.encode("One two"));
    await expect(model.promptTokens({ prompt: [99_999] })).rejects.toMatchObject({
      details: { param: "prompt" },
    });
    const signal = AbortSignal.abort(new Error("not now"));
    await expect(model.promptTokens({ prompt: "One" }, { signal })).rejects.toThrow("not now");
  });

  it("refuses a suffix if the vocabulary has no tokens for it or the prompt is not text", async () => {
    for (const prompt of ["One", [5]]) {
      const generation = loaded.model.generate({ prompt, suffix: "two" });
      await expect(Promise.resolve(generation)).rejects.toMatchObject({
        code: "invalid_request",
        details: { param: "suffix" },
      });
    }
  });

  it("offers the plain functions of the library interface", async () => {
    const { model, tokenizer } = loaded;
    const whole = await generate(model, tokenizer, { prompt: "Once", temperature: 0, maxTokens: 12 });
    let streamed = "";
    for await (const piece of streamGenerate(model, tokenizer, {
      prompt: "Once",
      temperature: 0,
      maxTokens: 12,
    })) {
      streamed += piece;
    }
    expect(streamed).toBe(whole);
    await expect(
      generate(model, tokenizer, { prompt: "Once", signal: AbortSignal.abort(new Error("not now")) }),
    ).rejects.toThrow("not now");
  });

  it("never splits a character, however it is divided into tokens", async () => {
    await using spelling = await loadTiny({ contextLength: 1024 }, { bytes: "characters" });
    const generation = spelling.model.generate({ prompt: "spell", seed: 3, maxTokens: 600 });
    const pieces: string[] = [];
    for await (const chunk of generation) pieces.push(chunk.text);
    const { text } = await within(10_000, generation);
    expect(pieces.join("")).toBe(text);
    expect(text).toMatch(/\p{Emoji_Presentation}|\p{Script=Han}/u);
    // maxTokens may split the last character; every other one is complete.
    expect(text.slice(0, -1)).not.toContain("\uFFFD");
    for (const piece of pieces) expect(piece).not.toMatch(/\p{Surrogate}/u);
  });

  it("shows invalid bytes as U+FFFD, the same streamed and not", async () => {
    await using noisy = await loadTiny({ contextLength: 1024 }, { bytes: "noise" });
    const request = { prompt: "noise", seed: 5, maxTokens: 300 };
    let streamed = "";
    for await (const chunk of noisy.model.generate(request)) streamed += chunk.text;
    expect(streamed).toContain("\uFFFD");
    expect((await noisy.model.generate(request)).text).toBe(streamed);
  });
});
