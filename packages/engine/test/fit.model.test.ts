// Measures the memory that a model will need without loading it, and finds settings with which it fits.
import { fitModel, load, type MemoryBudget } from "@ingle/engine";
import { tinyModel, tinyVisionModel } from "@ingle/fixtures";
import { describe, expect, it } from "vitest";

const plenty: MemoryBudget = { byMemory: { host: 64 * 1024 ** 3 } };
const hostBudget = (bytes: number): MemoryBudget => ({ byMemory: { host: Math.floor(bytes) } });

describe("fitting a model into memory", () => {
  it("predicts the memory of weights, context and computation, about as much as the load then takes", async () => {
    const file = await tinyModel();
    const { footprint, options, isReduced } = await fitModel(file, { threads: 1 }, { budget: plenty });
    expect([options.contextLength, isReduced]).toEqual([2048, false]);
    const { weightsBytes, contextBytes, computeBytes, byMemory } = footprint;
    expect(byMemory).toEqual({ host: weightsBytes + contextBytes + computeBytes });
    await using loaded = await load(file, { threads: 1 });
    expect(weightsBytes).toBeGreaterThanOrEqual(loaded.model.info.sizeBytes);
    expect(weightsBytes).toBeLessThan(1.1 * loaded.model.info.sizeBytes + 1024 ** 2);
  });

  it("computes a context's memory from its length and its KV cache's type", async () => {
    const file = await tinyModel();
    const measureContext = async (options: Parameters<typeof fitModel>[1]) =>
      (await fitModel(file, { threads: 1, parallel: 1, ...options }, { budget: plenty })).footprint
        .contextBytes;
    const whole = await measureContext({ contextLength: 2048 });
    expect(await measureContext({ contextLength: 1024 })).toBe(whole / 2);
    expect(await measureContext({ contextLength: 2048, kvTypeK: "f32", kvTypeV: "f32" })).toBe(2 * whole);
  });

  it("counts a draft model with its own context", async () => {
    const file = await tinyModel();
    const measureFootprint = async (options: Parameters<typeof fitModel>[1]) =>
      (await fitModel(file, { threads: 1, ...options }, { budget: plenty })).footprint;
    const [alone, drafted] = [await measureFootprint({}), await measureFootprint({ draftModel: file })];
    expect(drafted.weightsBytes).toBe(2 * alone.weightsBytes);
    expect(drafted.contextBytes).toBeGreaterThan(alone.contextBytes);
    expect(drafted.computeBytes).toBeGreaterThan(alone.computeBytes);
  });

  it("counts a speculator with its own context, beside that of the model whose matrices it uses", async () => {
    const reading = { targetLayers: [0, 1, 1], hasOwnMatrices: false };
    for (const speculator of [
      { architecture: "eagle3", ...reading },
      { architecture: "dflash", isDspark: true, ...reading },
    ] as const) {
      const [file, draftModel] = [await tinyModel(), await tinyModel(speculator)];
      const measureFootprint = async (options: Parameters<typeof fitModel>[1]) =>
        (await fitModel(file, { threads: 1, ...options }, { budget: plenty })).footprint;
      const [alone, drafted] = [await measureFootprint({}), await measureFootprint({ draftModel })];
      expect(drafted.weightsBytes).toBeGreaterThan(alone.weightsBytes);
      expect(drafted.weightsBytes).toBeLessThan(2 * alone.weightsBytes);
      expect(drafted.contextBytes).toBeGreaterThan(alone.contextBytes);
      expect(drafted.computeBytes).toBeGreaterThan(alone.computeBytes);
    }
  });

  it("counts layers for multi-token prediction with their own context, where they draft", async () => {
    for (const architecture of ["glm4moe", "qwen35"] as const) {
      const file = await tinyModel({ architecture });
      const measureFootprint = async (options: Parameters<typeof fitModel>[1]) =>
        (await fitModel(file, { threads: 1, ...options }, { budget: plenty })).footprint;
      const [drafts, off] = [await measureFootprint({}), await measureFootprint({ speculation: "off" })];
      expect(drafts.weightsBytes).toBeGreaterThan(off.weightsBytes);
      expect(drafts.contextBytes).toBeGreaterThan(off.contextBytes);
      expect(drafts.computeBytes).toBeGreaterThan(off.computeBytes);
    }
  });

  it("counts a projector, which takes more the more tokens an image may have", async () => {
    const { model, projector } = await tinyVisionModel({ architecture: "lfm2" });
    const measureWeights = async (options: Parameters<typeof fitModel>[1]) =>
      (await fitModel(model, { threads: 1, ...options }, { budget: plenty })).footprint.weightsBytes;
    const few = await measureWeights({ mmproj: projector, imageMaxTokens: 64 });
    expect(few).toBeGreaterThan(await measureWeights({}));
    expect(await measureWeights({ mmproj: projector, imageMaxTokens: 1024 })).toBeGreaterThan(1.5 * few);
  });

  it("plans the context for embeddings of an embedding model", async () => {
    const file = await tinyModel({ pooling: "last" });
    const measureFile = async (path: string) =>
      (await fitModel(path, { threads: 1 }, { budget: plenty })).footprint;
    const [embeds, generates] = [await measureFile(file), await measureFile(await tinyModel())];
    expect(embeds.contextBytes).toBeGreaterThan(generates.contextBytes);
    expect(embeds.computeBytes).toBeGreaterThan(generates.computeBytes);
  });

  it("chooses fewer cells and then a shorter context if memory is short, and reports it", async () => {
    const file = await tinyModel({ contextLength: 8192 });
    const asked = { threads: 1, parallel: 4 };
    const whole = await fitModel(file, asked, { budget: plenty });
    expect(whole).toMatchObject({ isReduced: false, options: { contextLength: 8192, cells: 32_768 } });
    const least = await fitModel(file, { ...asked, contextLength: 2048, cells: 2048 }, { budget: plenty });
    const room = 1.05 * (least.footprint.byMemory["host"] ?? 0);
    const short = await fitModel(file, asked, { budget: hostBudget(room) });
    expect(short).toMatchObject({ isReduced: true, options: { contextLength: 2048, cells: 2048 } });
    expect(short.footprint.byMemory["host"]).toBeLessThanOrEqual(room);
    await using loaded = await load(file, short.options);
    expect(loaded.model.info.contextLength).toBe(2048);
  });

  it("gives each request a longer context where that takes no more, and says so", async () => {
    const file = await tinyModel({ contextLength: 32_768 });
    // Eight requests of the default length share so many cells that one may have them all.
    const grown = await fitModel(file, { threads: 1 }, { budget: plenty });
    expect(grown).toMatchObject({ isReduced: false, isDefault: false, options: { contextLength: 32_768 } });
    expect(grown.summary).toMatch(/^on the processor, a context of 32,768 tokens, /);
    await using loaded = await load(file, grown.options);
    expect(loaded.model.info.contextLength).toBe(32_768);
    const given = await fitModel(file, { threads: 1, contextLength: 4096 }, { budget: plenty });
    expect(given).toMatchObject({ isDefault: true, options: { contextLength: 4096 } });
  });

  it("refuses a model that cannot fit, with the numbers and with settings that would fit", async () => {
    const file = await tinyModel({ contextLength: 8192 });
    const options = { threads: 1, parallel: 1, contextLength: 8192 };
    const { footprint } = await fitModel(file, options, { budget: plenty });
    const { weightsBytes, contextBytes, computeBytes } = footprint;
    const room = weightsBytes + computeBytes + 0.7 * contextBytes;
    const refused = fitModel(file, options, { budget: hostBudget(room) });
    await expect(refused).rejects.toMatchObject({
      code: "out_of_memory",
      details: { neededBytes: weightsBytes + contextBytes + computeBytes, contextLength: 8192 },
    });
    await expect(refused).rejects.toThrow(
      /What would fit: a context of 4096 tokens; a KV cache of 8 bits \(kv-bits 8\)/,
    );
    await expect(fitModel(file, options, { budget: hostBudget(1000) })).rejects.toThrow(
      /Choose a smaller model/,
    );
  });

  it("works for a hybrid model, whose state hardly grows with the context", async () => {
    const file = await tinyModel({ architecture: "lfm2" });
    const { footprint } = await fitModel(file, { threads: 1 }, { budget: plenty });
    expect(footprint.contextBytes).toBeGreaterThan(0);
  });

  it("throws the same errors as load() for a broken file and for invalid options", async () => {
    const file = await tinyModel();
    await expect(fitModel("/nowhere.gguf", {}, { budget: plenty })).rejects.toMatchObject({
      code: "model_not_found",
    });
    const tooLong = fitModel(file, { contextLength: 4096 }, { budget: plenty });
    await expect(tooLong).rejects.toMatchObject({
      code: "invalid_request",
      details: { param: "contextLength" },
    });
    const unknownType = fitModel(file, { kvTypeK: "q9_9" }, { budget: plenty });
    await expect(unknownType).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("frees all memory after each measurement", async () => {
    const file = await tinyModel();
    const rounds = async (count: number): Promise<number> => {
      for (let round = 0; round < count; round += 1) await fitModel(file, { threads: 1 }, { budget: plenty });
      return process.memoryUsage().rss;
    };
    const before = await rounds(5);
    expect((await rounds(20)) - before).toBeLessThan(64 * 1024 ** 2);
  });
});
