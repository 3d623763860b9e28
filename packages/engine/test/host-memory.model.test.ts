// The host KV tier: an evicted chat continues from its saved state, with the same text as without eviction.
import type { GenerationResult, LoadedModel, LoadOptions } from "@ingle/engine";
import { exactArithmetic, until } from "@ingle/fixtures";
import { describe, expect, it } from "vitest";
import { loadTiny } from "./tiny.ts";

const chats = ["river", "lantern", "copper", "harbour", "winter", "orbit", "maple", "signal"];
const turnEnd = "</s>";
/** Two or three of the chats fit. */
const few: LoadOptions = { contextLength: 512, cells: 512, parallel: 2 };
const crowded: LoadOptions = { ...exactArithmetic, ...few };
/** All chats fit, with a sequence for each turn. */
const roomy: LoadOptions = { ...few, cells: 8192, parallel: 16 };

function opening(word: string): string {
  return `${`The ${word} is quiet tonight, and nobody asks why. `.repeat(5)}${turnEnd}What of the ${word}?${turnEnd}`;
}

async function ask({ model }: LoadedModel, prompt: string, extra: object = {}): Promise<GenerationResult> {
  return await model.generate({ prompt, temperature: 0, maxTokens: 20, ...extra });
}

/** One turn of each chat, then a second turn of each. */
async function twoTurns(loaded: LoadedModel, extra: object = {}): Promise<GenerationResult[][]> {
  const results: GenerationResult[][] = [];
  const prompts = chats.map(opening);
  for (const follow of [`And then?${turnEnd}`, ""]) {
    const round: GenerationResult[] = [];
    for (const [index, prompt] of prompts.entries()) {
      const result = await ask(loaded, prompt, extra);
      prompts[index] = prompt + result.text + turnEnd + follow;
      round.push(result);
    }
    results.push(round);
  }
  return results;
}

const texts = (results: GenerationResult[][]): string[][] =>
  results.map((round) => round.map((result) => result.text));

describe.each([
  { name: "a llama", fixture: { weights: "f32" }, options: exactArithmetic },
  {
    name: "a llama with keys of 8 bits",
    fixture: { weights: "f32" },
    options: { kvBitsK: 8, flashAttention: "off" },
  },
  ...([8, 4, 3] as const).map((kvBits) => ({
    name: `a llama with a cache of ${kvBits} bits`,
    fixture: { weights: "f32" } as const,
    options: { kvBits, flashAttention: "on" } as const,
  })),
  {
    name: "an lfm2 with a cache of 4 bits",
    fixture: { architecture: "lfm2" },
    options: { kvBits: 4, flashAttention: "on" },
  },
  { name: "an lfm2", fixture: { architecture: "lfm2" }, options: exactArithmetic },
  { name: "an lfm2moe", fixture: { architecture: "lfm2moe" }, options: exactArithmetic },
] as const)("host memory, $name", ({ fixture, options }) => {
  it("restores evicted chats, with the same texts as in a context that held them all along", async () => {
    await using small = await loadTiny({ ...few, ...options }, fixture);
    await using large = await loadTiny({ ...roomy, ...options }, fixture);
    const evicted = await twoTurns(small);
    const stayed = await twoTurns(large);
    expect(texts(evicted)).toEqual(texts(stayed));
    for (const [index, first] of evicted[0]?.entries() ?? []) {
      // At least everything up to the end of the first question: random text may be split into other tokens the second time.
      expect(evicted[1]?.[index]?.usage.cachedTokens).toBeGreaterThanOrEqual(first.usage.promptTokens);
    }
    const stats = small.model.stats();
    expect(stats.cacheRamHits).toBeGreaterThanOrEqual(chats.length);
    expect(stats.cacheRamBytes).toBeGreaterThan(0);
    expect(large.model.stats().cacheRamHits).toBe(0);
  });
});

describe("host memory", () => {
  it.each(["llama", "lfm2"] as const)("gives the texts of an uncached run, %s", async (architecture) => {
    await using loaded = await loadTiny(crowded, { weights: "f32", architecture });
    const cached = await twoTurns(loaded);
    const uncached = await twoTurns(loaded, { cachePrompt: false });
    expect(texts(cached)).toEqual(texts(uncached));
    expect(uncached.flat().every((result) => result.usage.cachedTokens === 0)).toBe(true);
  });

  it("keeps nothing if it is disabled", async () => {
    await using loaded = await loadTiny({ ...crowded, cacheRamMiB: 0 }, { weights: "f32" });
    const [, second] = await twoTurns(loaded);
    // The common prefix stays as long as any of the chats does.
    const [one, other] = await Promise.all(
      chats.slice(0, 2).map((chat) => loaded.tokenizer.encode(opening(chat))),
    );
    const common = one?.findIndex((token, index) => token !== other?.[index]);
    expect(common).toBeLessThan(8);
    expect(second?.map((result) => result.usage.cachedTokens)).toEqual(chats.map(() => common));
    expect(loaded.model.stats()).toMatchObject({ cacheRamBytes: 0, cacheRamPieces: 0, cacheRamHits: 0 });
  });

  it("never exceeds its limit", async () => {
    await using loaded = await loadTiny({ ...crowded, cacheRamMiB: 1 }, { weights: "f32" });
    for (let round = 0; round < 40; round += 1) {
      await ask(loaded, `${round} `.repeat(100) + opening("flood"), { maxTokens: 4 });
      expect(loaded.model.stats().cacheRamBytes).toBeLessThanOrEqual(1024 * 1024);
    }
    expect(loaded.model.stats().cacheRamBytes).toBeGreaterThan(512 * 1024);
  });

  it("never restores the state of a longer text for a shorter prefix of it, lfm2", async () => {
    await using loaded = await loadTiny(crowded, { architecture: "lfm2" });
    // They fill nearly all of the context, and have no common prefix.
    const evictors = ["one", "two"].map((word) => word + " copper".repeat(235));
    const first = opening("lantern");
    const longer = `${first}${"It burns all night, and nobody asks why. ".repeat(8)}${turnEnd}`;
    // With one token each, nothing follows the text in the state.
    for (const [index, prompt] of [first, longer].entries()) {
      await ask(loaded, prompt, { maxTokens: 1 });
      await ask(loaded, evictors[index] ?? "", { maxTokens: 1 });
    }
    await ask(loaded, `${longer}And then?${turnEnd}`, { maxTokens: 1 });
    expect(loaded.model.stats().cacheRamHits).toBe(3); // one for the longer text, and two now
    const other = `${first}Who lit it?${turnEnd}`;
    const cached = await ask(loaded, other);
    expect(cached.usage.cachedTokens).toBeGreaterThan(0);
    expect(cached.text).toBe((await ask(loaded, other, { cachePrompt: false })).text);
  });

  it("restores the computed state of a preempted request", async () => {
    await using loaded = await loadTiny({ ...crowded, parallel: 3 }, { weights: "f32" });
    const requests = ["river", "lantern", "copper"].map((word) => ({
      prompt: opening(word),
      maxTokens: 250,
    }));
    const together = await Promise.all(
      requests.map(async ({ prompt, maxTokens }) => (await ask(loaded, prompt, { maxTokens })).text),
    );
    await until(() => loaded.model.stats().running === 0);
    const { preemptions, cacheRamHits } = loaded.model.stats();
    expect(preemptions).toBeGreaterThan(0);
    expect(cacheRamHits).toBeGreaterThan(0);
    for (const [index, { prompt, maxTokens }] of requests.entries()) {
      expect((await ask(loaded, prompt, { maxTokens, cachePrompt: false })).text).toBe(together[index]);
    }
  });
});
