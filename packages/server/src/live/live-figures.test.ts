import { describe, expect, it } from "vitest";
import { FigureSampler } from "./live-figures.ts";

const idle = { promptTokens: 0, generatedTokens: 0, running: 0, waiting: 0, cells: 0, cellsUsed: 0 };
const memoryBytes = 3.4 * 1024 ** 2;

describe("figures of a server", () => {
  it("contain the rates of the last second", () => {
    const sampler = new FigureSampler();
    expect(sampler.sample(idle, { atMs: 0, memoryBytes, cachedShare: null })).toMatchObject({
      prompt_tokens_per_second: 0,
      completion_tokens_per_second: 0,
    });
    const first = { ...idle, promptTokens: 100, generatedTokens: 10 };
    expect(sampler.sample(first, { atMs: 500, memoryBytes, cachedShare: null })).toMatchObject({
      prompt_tokens_per_second: 200,
      completion_tokens_per_second: 20,
    });
    for (const atMs of [1000, 1500, 2000, 2500])
      sampler.sample(first, { atMs, memoryBytes, cachedShare: null });
    expect(
      sampler.sample(first, { atMs: 3000, memoryBytes, cachedShare: null }).prompt_tokens_per_second,
    ).toBe(0);
  });

  it("are never negative when a model and its counters are gone", () => {
    const sampler = new FigureSampler();
    sampler.sample({ ...idle, generatedTokens: 50 }, { atMs: 0, memoryBytes, cachedShare: null });
    expect(
      sampler.sample(idle, { atMs: 500, memoryBytes, cachedShare: null }).completion_tokens_per_second,
    ).toBe(0);
  });

  it("show how full the KV cache is, and null without one", () => {
    const sampler = new FigureSampler();
    expect(sampler.sample(idle, { atMs: 0, memoryBytes, cachedShare: null }).kv_used).toBeNull();
    const half = { ...idle, cells: 100, cellsUsed: 50 };
    expect(sampler.sample(half, { atMs: 1, memoryBytes, cachedShare: null }).kv_used).toBe(0.5);
  });

  it("round the memory, so that an idle server sends no events", () => {
    expect(new FigureSampler().sample(idle, { atMs: 0, memoryBytes, cachedShare: null }).memory_bytes).toBe(
      3 * 1024 ** 2,
    );
  });
});
