// Forecasts of a model's memory before it is loaded: they match the load, and include the longest possible context.
import { fitModel, forecastMemory, load, type MemoryBudget } from "@ingle/engine";
import { tinyModel } from "@ingle/fixtures";
import { describe, expect, it } from "vitest";

const hostBudget = (bytes: number): MemoryBudget => ({ byMemory: { host: Math.floor(bytes) } });
const plenty = hostBudget(64 * 1024 ** 3);

describe("a forecast", () => {
  it.each([16, 8] as const)(
    "matches the engine's bytes per token of a KV cache of %i bits",
    async (kvBits) => {
      const file = await tinyModel({ contextLength: 8192 });
      const options = { threads: 1, parallel: 1, kvBits };
      const forecast = await forecastMemory(file, options, { budget: plenty });
      expect(forecast).toMatchObject({ contextLength: 8192, contextLengthMax: 8192, isReduced: false });
      expect(forecast.refusal).toBeUndefined();
      const { footprint } = await fitModel(file, options, { budget: plenty });
      expect(forecast.footprint).toEqual(footprint);
      await using loaded = await load(file, { ...options, contextLength: 512 });
      expect(forecast.kvBytesPerToken).toBe(loaded.model.info.kvBytesPerToken);
    },
  );

  it("is right for a context that is shorter than the granularity of the KV cache", async () => {
    const file = await tinyModel({ contextLength: 128 });
    const { kvBytesPerToken } = await forecastMemory(file, { threads: 1 });
    await using loaded = await load(file, { threads: 1 });
    expect(kvBytesPerToken).toBe(loaded.model.info.kvBytesPerToken);
  });

  it("needs no budget", async () => {
    const file = await tinyModel({ contextLength: 8192 });
    expect(await forecastMemory(file, { threads: 1, contextLength: 512 })).toMatchObject({
      contextLength: 512,
      contextLengthMax: 8192,
      refusal: undefined,
    });
  });

  it("finds the longest context that fits", async () => {
    const file = await tinyModel({ contextLength: 16_384 });
    const asked = { threads: 1, parallel: 1 };
    const { footprint } = await fitModel(file, { ...asked, contextLength: 12_288 }, { budget: plenty });
    const budget = hostBudget(footprint.byMemory["host"] ?? 0);
    const { contextLength, contextLengthMax } = await forecastMemory(file, asked, { budget });
    expect(contextLength).toBe(8192);
    expect(contextLengthMax).toBeGreaterThan(11_500);
    expect(contextLengthMax).toBeLessThanOrEqual(12_288);
    const longest = { ...asked, contextLength: contextLengthMax };
    expect(await fitModel(file, longest, { budget })).toMatchObject({ isReduced: false });
  });

  it("reports that less than the default fits", async () => {
    const file = await tinyModel({ contextLength: 8192 });
    const asked = { threads: 1, parallel: 1 };
    const { footprint } = await fitModel(file, { ...asked, contextLength: 4096 }, { budget: plenty });
    const budget = hostBudget(1.02 * (footprint.byMemory["host"] ?? 0));
    const forecast = await forecastMemory(file, asked, { budget });
    expect(forecast).toMatchObject({ contextLength: 4096, isReduced: true, refusal: undefined });
    expect(forecast.contextLengthMax).toBeGreaterThanOrEqual(4096);
    expect(forecast.contextLengthMax).toBeLessThan(5000);
  });

  it("gives the reason, the needed memory and a context that would fit, if a model does not fit", async () => {
    const file = await tinyModel({ contextLength: 8192 });
    const asked = { threads: 1, parallel: 1, contextLength: 8192 };
    const { footprint } = await fitModel(file, asked, { budget: plenty });
    const room = (footprint.byMemory["host"] ?? 0) - footprint.contextBytes / 2;
    const forecast = await forecastMemory(file, asked, { budget: hostBudget(room) });
    expect(forecast.refusal).toMatchObject({ code: "out_of_memory" });
    expect(forecast.footprint).toEqual(footprint);
    expect(forecast.contextLengthMax).toBeGreaterThan(3000);
    expect(forecast.contextLengthMax).toBeLessThan(5000);
    const nothing = await forecastMemory(file, asked, { budget: hostBudget(1000) });
    expect(nothing.contextLengthMax).toBe(0);
  });

  it("throws errors that are unrelated to memory", async () => {
    const file = await tinyModel({ contextLength: 8192 });
    await expect(forecastMemory(file, { contextLength: 100_000 })).rejects.toMatchObject({
      code: "invalid_request",
    });
    await expect(forecastMemory(`${file}.gone`, {})).rejects.toMatchObject({ code: "model_not_found" });
  });
});
