// Requests with a common prefix: it is computed once, and no text changes.
import type { GenerationResult, LoadedModel } from "@ingle/engine";
import { until } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadExact } from "./tiny.ts";

const prefix = "You are a patient guide through the harbour at night. ".repeat(8);

describe("shared prefixes", () => {
  let loaded: LoadedModel;
  beforeAll(async () => {
    loaded = await loadExact({ contextLength: 1024, parallel: 8 });
  });
  afterAll(() => loaded[Symbol.asyncDispose]());

  async function ask(question: string, extra: object = {}): Promise<GenerationResult> {
    return await loaded.model.generate({
      prompt: prefix + question,
      temperature: 0,
      maxTokens: 24,
      ...extra,
    });
  }

  it("generates the same with and without a prefix that others computed", async () => {
    const questions = ["Where is the lantern?", "Who rings the bell?", "What floats?"];
    const alone: string[] = [];
    for (const question of questions) alone.push((await ask(question, { cachePrompt: false })).text);
    const shared: GenerationResult[] = [];
    for (const question of questions) shared.push(await ask(question));
    expect(shared.map((result) => result.text)).toEqual(alone);
    expect(shared[0]?.usage.cachedTokens).toBe(0);
    expect(shared[1]?.usage.cachedTokens).toBeGreaterThan(80);
    const again = await ask(questions[0] ?? "");
    expect(again.text).toBe(alone[0]);
    expect(again.usage.cachedTokens).toBe(again.usage.promptTokens - 1);
  });

  it("computes the prefix of simultaneous requests once", async () => {
    const before = loaded.model.stats().promptTokens;
    const newPrefix = "A beginning that nobody has asked before, long enough to be worth it. ".repeat(6);
    const results = await Promise.all(
      Array.from({ length: 8 }, async (_, index) =>
        loaded.model.generate({ prompt: `${newPrefix} Question ${index}`, temperature: 0, maxTokens: 8 }),
      ),
    );
    const total = results.reduce((sum, result) => sum + result.usage.promptTokens, 0);
    const cached = results.reduce((sum, result) => sum + result.usage.cachedTokens, 0);
    const longest = Math.max(...results.map((result) => result.usage.promptTokens));
    const computed = loaded.model.stats().promptTokens - before;
    expect(total - cached).toBeLessThan(longest * 2);
    expect(computed).toBeLessThan(longest * 2);
  });

  it("computes only the new tokens in each turn of a chat", async () => {
    let prompt = prefix;
    const turns: GenerationResult["usage"][] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      prompt += ` Question ${turn}?`;
      const result = await loaded.model.generate({ prompt, temperature: 0, maxTokens: 16 });
      turns.push(result.usage);
      prompt += result.text;
    }
    for (const [index, before] of turns.slice(0, -1).entries()) {
      // All earlier prompts, and most of the replies: random text may be split into other tokens the second time.
      expect(turns[index + 1]?.cachedTokens).toBeGreaterThan(before.promptTokens);
    }
  });

  it("evicts cached sequences when requests need their cells, and leaves nothing reserved", async () => {
    await using small = await loadExact({ contextLength: 300, cells: 300, parallel: 2 });
    for (let round = 0; round < 12; round += 1) {
      const result = await small.model.generate({
        prompt: `${round} `.repeat(60),
        temperature: 0,
        maxTokens: 40,
      });
      expect(result.usage.completionTokens).toBe(40);
    }
    await until(() => small.model.stats().running === 0);
    const { cells, cellsUsed, cellsCached } = small.model.stats();
    expect(cellsUsed).toBe(0);
    expect(cellsCached).toBeGreaterThan(0);
    expect(cellsCached).toBeLessThanOrEqual(cells);
  });
});
