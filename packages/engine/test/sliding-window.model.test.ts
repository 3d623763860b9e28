// Models with a sliding window in some layers: cells outside the window of one sequence may still be inside the window of a shorter one
// with the same prefix.
import type { LoadedModel } from "@ingle/engine";
import { exactArithmetic, seededRandom } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadTiny } from "./tiny.ts";

const random = seededRandom(1, "sliding window");
const vocabulary = ["river", "copper", "seven", "lantern", "orbit", "maple", "quiet", "harbour"];
const below = (limit: number): number => random.uint32() % limit;
const words = (count: number): string[] =>
  Array.from({ length: count }, () => vocabulary[below(vocabulary.length)] ?? "");

/** Texts that share a prefix with one of a few others. */
function related(count: number): string[] {
  const texts = Array.from({ length: 4 }, () => words(150));
  return Array.from({ length: count }, () => {
    const prefix = texts[below(texts.length)]?.slice(0, 30 + below(120)) ?? [];
    return [...prefix, ...words(below(60))].join(" ");
  });
}

describe("a model with a sliding window", () => {
  let loaded: LoadedModel;
  beforeAll(async () => {
    loaded = await loadTiny(
      { ...exactArithmetic, contextLength: 512, cells: 1500, parallel: 4 },
      { architecture: "gemma3", weights: "f32", window: 32 },
    );
  });
  afterAll(() => loaded[Symbol.asyncDispose]());

  it("shares prefixes of any length, with the same texts as without sharing", async () => {
    let cached = 0;
    for (const prompt of related(100)) {
      const request = { prompt, temperature: 0, maxTokens: 8 };
      const shared = await loaded.model.generate(request);
      const alone = await loaded.model.generate({ ...request, cachePrompt: false });
      expect(shared.text).toBe(alone.text);
      cached += shared.usage.cachedTokens;
    }
    expect(cached).toBeGreaterThan(5_000);
  });
});
