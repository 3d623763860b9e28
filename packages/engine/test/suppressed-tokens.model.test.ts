// Tokens that a model's file forbids are never generated, whatever chooses them: the likeliest, a draw, a grammar, a draft, a bias.
import type { GenerationRequest, GenerationResult, LoadOptions } from "@ingle/engine";
import { tinyModel } from "@ingle/fixtures";
import { beforeAll, describe, expect, it } from "vitest";
import { loadExact } from "./tiny.ts";

const options: LoadOptions = { contextLength: 512 };
const ask = { prompt: "The lantern", temperature: 0, maxTokens: 40, logprobs: 3 } as const;

/** The ids of the tokens that a model writes without a list, and those of them that the test forbids. */
let forbidden: number[] = [];
beforeAll(async () => {
  await using free = await loadExact(options);
  const { text } = await free.model.generate(ask);
  const ids = await free.tokenizer.encode(text, { addSpecial: false });
  forbidden = [...new Set(ids)].slice(0, 8);
});

it("is tested with tokens that a model writes by itself", () => {
  expect(forbidden.length).toBeGreaterThan(4);
});

async function generated(
  request: Partial<GenerationRequest> = {},
  load: LoadOptions = {},
): Promise<GenerationResult & { ids: number[] }> {
  await using loaded = await loadExact({ ...options, ...load }, { suppressedTokens: forbidden });
  const result = await loaded.model.generate({ ...ask, ...request } as GenerationRequest);
  return { ...result, ids: (result.logprobs ?? []).map(({ id }) => id) };
}

function expectNone(ids: readonly number[]): void {
  expect(ids.length).toBeGreaterThan(4);
  expect(ids.filter((id) => forbidden.includes(id))).toEqual([]);
}

describe("tokens that the file forbids are not generated", () => {
  it.each<[string, Partial<GenerationRequest>]>([
    ["greedily", {}],
    ["by a draw from all tokens", { temperature: 1, topK: 0, seed: 1 }],
    ["by a draw from the likeliest", { temperature: 1, topK: 40, topP: 0.9, seed: 1 }],
    ["with mirostat", { temperature: 1, mirostat: 2, seed: 1 }],
    ["by a grammar", { responseFormat: { type: "regex", pattern: "[a-z ]{40,80}" } }],
  ])("%s", async (_, request) => {
    expectNone((await generated(request)).ids);
  });

  it("not even with a bias in their favour", async () => {
    expectNone((await generated({ logitBias: Object.fromEntries(forbidden.map((id) => [id, 100])) })).ids);
  });

  it("by drafts of earlier text and of a draft model that knows no such list", async () => {
    const prompt = "The river is quiet and the river is quiet and the river is";
    const plain = await generated({ prompt });
    for (const load of [
      { speculation: "ngram" } as const,
      { draftModel: await tinyModel({ weights: "f32" }) },
    ]) {
      const drafted = await generated({ prompt }, load);
      expectNone(drafted.ids);
      expect(drafted.ids).toEqual(plain.ids);
    }
  });

  it("and are not among the likeliest in log probabilities", async () => {
    const { logprobs = [] } = await generated();
    expect(logprobs.length).toBeGreaterThan(4);
    for (const { top } of logprobs) expectUnused(top.map(({ id }) => id));
  });
});

function expectUnused(ids: readonly number[]): void {
  expect(ids.filter((id) => forbidden.includes(id))).toEqual([]);
}
