// Hybrid models (LFM2): their recurrent state cannot be truncated, yet prefixes are shared and no text changes.
import type { GenerationResult, LoadedModel } from "@ingle/engine";
import { exactArithmetic } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadTiny } from "./tiny.ts";

const system =
  "You are a patient guide through the harbour at night, and you answer in short sentences. ".repeat(3);
// The end token of the tiny models, at the end of each turn.
const turnEnd = "</s>";

describe.each(["lfm2", "lfm2moe"] as const)("a hybrid model, %s", (architecture) => {
  let loaded: LoadedModel;
  beforeAll(async () => {
    loaded = await loadTiny({ ...exactArithmetic, contextLength: 1024, parallel: 4 }, { architecture });
  });
  afterAll(() => loaded[Symbol.asyncDispose]());

  async function ask(prompt: string, extra: object = {}): Promise<GenerationResult> {
    return await loaded.model.generate({ prompt, temperature: 0, maxTokens: 24, ...extra });
  }

  it("is reported as recurrent", () => {
    expect(loaded.model.info).toMatchObject({ architecture, isRecurrent: true });
  });

  it("shares a common system message between requests, with the texts of an uncached run", async () => {
    const prompts = ["Who rings?", "What floats there?", "Where is the light?"].map(
      (question) => `${system}${turnEnd}${question}${turnEnd}`,
    );
    const uncached: string[] = [];
    for (const prompt of prompts) uncached.push((await ask(prompt, { cachePrompt: false })).text);
    const cached: GenerationResult[] = [];
    for (const prompt of prompts) cached.push(await ask(prompt));
    expect(cached.map((result) => result.text)).toEqual(uncached);
    const systemTokens = (await loaded.tokenizer.encode(system + turnEnd)).length;
    expect(cached[0]?.usage.cachedTokens).toBe(0);
    expect(cached[1]?.usage.cachedTokens).toBe(systemTokens);
    expect(cached[2]?.usage.cachedTokens).toBe(systemTokens);
    const together = await Promise.all(prompts.map(async (prompt) => (await ask(prompt)).text));
    expect(together).toEqual(uncached);
  });

  it("computes only the new tokens in each turn of a chat, with the texts of an uncached run", async () => {
    let prompt = `A chat of its own. ${system}${turnEnd}`;
    const turns: { result: GenerationResult; uncached: string }[] = [];
    for (const question of ["First?", "Second?", "Third?", "Fourth?"]) {
      prompt += question + turnEnd;
      const uncached = (await ask(prompt, { cachePrompt: false })).text;
      const result = await ask(prompt);
      turns.push({ result, uncached });
      prompt += result.text + turnEnd;
    }
    for (const [index, { result, uncached }] of turns.entries()) {
      expect(result.text, `turn ${index}`).toBe(uncached);
      if (index === 0) continue;
      // The preceding turn up to the end of its question: the reply's random text may be split into other tokens the second time.
      expect(result.usage.cachedTokens).toBeGreaterThanOrEqual(
        turns[index - 1]?.result.usage.promptTokens ?? 0,
      );
    }
  });

  it("continues correctly after a preemption and beside cancelled requests", async () => {
    await using tight = await loadTiny(
      { ...exactArithmetic, contextLength: 300, cells: 400, parallel: 3 },
      { architecture },
    );
    const requests = ["river", "lantern", "copper"].map((word) => ({
      prompt: `${word} `.repeat(12),
      temperature: 0,
      maxTokens: 200,
    }));
    const leaving = tight.model.generate({ prompt: "leaves soon", maxTokens: 200 });
    setTimeout(() => leaving.cancel(), 20);
    const together = await Promise.all(
      requests.map(async (request) => (await tight.model.generate(request)).text),
    );
    expect(tight.model.stats().preemptions).toBeGreaterThan(0);
    for (const [index, request] of requests.entries()) {
      expect((await loaded.model.generate({ ...request, cachePrompt: false })).text).toBe(together[index]);
    }
  });
});
