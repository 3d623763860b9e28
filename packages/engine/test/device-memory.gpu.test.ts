// The memory of a GPU: what a model would take of it, and what happens when it is full.
import { EngineError, fitModel, load, memoryBudget, buildInfo } from "@ingle/engine";
import { tinyModel } from "@ingle/fixtures";
import { describe, expect, it } from "vitest";
import { canFail, firstDevice, smallDevice } from "./device.ts";

const MiB = 1024 ** 2;
const options = { threads: 1, parallel: 1 } as const;

describe("fitting a model into a GPU's memory", () => {
  it("puts all of a small model on it, and says how much of it that takes", async () => {
    const { name, memoryFree, memoryTotal } = await firstDevice();
    expect(memoryTotal).toBeGreaterThan(0);
    expect(memoryFree).toBeLessThanOrEqual(memoryTotal);
    const budget = memoryBudget((await buildInfo()).devices);
    expect(budget.byMemory[name]).toBeLessThanOrEqual(memoryFree);
    const { footprint, isReduced } = await fitModel(await tinyModel(), options, { budget });
    expect(isReduced).toBe(false);
    expect(footprint.byMemory[name]).toBeGreaterThan(footprint.contextBytes);
  });

  it("puts fewer layers on a smaller GPU, and none on a full one", async () => {
    const { name } = await firstDevice();
    const file = await tinyModel({ architecture: "lfm2", embedding: 256, feedForward: 1024 });
    const host = 64 * 1024 * MiB;
    const sizes = { ...options, contextLength: 512 };
    const whole = await fitModel(file, sizes, { budget: { byMemory: { host, [name]: host } } });
    const bytes = whole.footprint.byMemory[name] ?? 0;
    const some = await fitModel(file, sizes, { budget: { byMemory: { host, [name]: bytes - 1 } } });
    expect(some.isReduced).toBe(true);
    expect(some.footprint.byMemory[name]).toBeLessThan(bytes);
    await using loaded = await load(file, some.options);
    expect((await loaded.model.generate({ prompt: "In two places", maxTokens: 4 })).text).not.toBe("");
    const none = await fitModel(file, sizes, { budget: { byMemory: { host, [name]: 0 } } });
    expect(none.options.gpuLayers).toBe(0);
    expect(none.footprint.byMemory[name]).toBeUndefined();
  });
});

describe.runIf(canFail)("a GPU without enough memory", () => {
  it("is as small as it says", async () => {
    await using _ = await smallDevice(64 * MiB);
    expect((await firstDevice()).memoryTotal).toBe(64 * MiB);
  });

  it("refuses a model whose weights are larger, and the next load succeeds", async () => {
    const file = await tinyModel();
    {
      await using _ = await smallDevice(MiB);
      await expect(load(file, options)).rejects.toMatchObject({
        code: "out_of_memory",
        message: expect.stringContaining("fewer layers"),
      });
    }
    await using loaded = await load(file, options);
    expect((await loaded.model.generate({ prompt: "Again", maxTokens: 4 })).text).not.toBe("");
  });

  it("loads and runs a model without layers on it, however full it is", async () => {
    await using _ = await smallDevice(0);
    await using loaded = await load(await tinyModel(), { ...options, gpuLayers: 0, contextLength: 1024 });
    const { model } = loaded;
    const prompt = "word ".repeat(600);
    expect((await model.generate({ prompt, maxTokens: 4 })).text).not.toBe("");
    expect((await model.embed([prompt])).embeddings).toHaveLength(1);
  });

  it("refuses a context that is larger than what the weights leave", async () => {
    const file = await tinyModel({ contextLength: 65_536 });
    const { footprint } = await fitModel(file, options, { budget: { byMemory: {} } });
    await using _ = await smallDevice(1.2 * footprint.weightsBytes + 8 * MiB);
    await expect(load(file, { ...options, contextLength: 65_536 })).rejects.toMatchObject({
      code: "out_of_memory",
    });
  });

  it("fails only the requests for which it has no buffers, and computes them once it has", async () => {
    await using loaded = await load(await tinyModel(), { ...options, contextLength: 1024 });
    const { model } = loaded;
    const long = { prompt: "word ".repeat(600), maxTokens: 4 };
    const full = await smallDevice(0);
    const [result] = await Promise.allSettled([model.embed([long.prompt])]);
    expect(result.status === "rejected" && EngineError.is(result.reason) && result.reason.code).toBe(
      "out_of_memory",
    );
    await full[Symbol.asyncDispose]();
    expect((await model.generate(long)).text).not.toBe("");
    expect((await model.embed([long.prompt])).embeddings).toHaveLength(1);
  });
});
