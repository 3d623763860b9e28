// The memory of a GPU: what a model would take of it, and what happens when it is full.
import { stat } from "node:fs/promises";
import { EngineError, fitModel, load, memoryBudget, buildInfo, type LoadOptions } from "@ingle/engine";
import { tinyAudioModel, tinyModel, tinyVisionModel } from "@ingle/fixtures";
import { describe, expect, it } from "vitest";
import { canFail, firstDevice, smallDevice } from "./device.ts";
import { anAudio, anImage } from "./tiny.ts";

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

  it.each([
    ["images", async () => tinyVisionModel({ architecture: "lfm2" })],
    ["audio", async () => tinyAudioModel({ architecture: "lfm2", audio: "ultravox" })],
  ] as const)("counts a projector for %s where it is, which is on the GPU", async (_, make) => {
    const { name } = await firstDevice();
    const { model, projector } = await make();
    const takes = async (more: LoadOptions): Promise<number> =>
      (await fitModel(model, { ...options, contextLength: 512, ...more }, { budget: { byMemory: {} } }))
        .footprint.byMemory[name] ?? 0;
    const bytes = (await takes({ mmproj: projector })) - (await takes({}));
    expect(bytes).toBeGreaterThan(0.9 * (await stat(projector)).size);
  });

  it("keeps flash attention, and its small buffers, with a part of the layers on it", async () => {
    const file = await tinyModel({ contextLength: 16_384 });
    const computeBytes = async (flashAttention: LoadOptions["flashAttention"]): Promise<number> => {
      const split = { threads: 1, parallel: 4, contextLength: 16_384, gpuLayers: 1, flashAttention };
      return (await fitModel(file, split, { budget: { byMemory: {} } })).footprint.computeBytes;
    };
    expect(await computeBytes("auto")).toBe(await computeBytes("on"));
    expect(await computeBytes("auto")).toBeLessThan((await computeBytes("off")) / 2);
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

  it.each([
    ["images", anImage(), async () => tinyVisionModel({ architecture: "lfm2" })],
    ["audio", anAudio(), async () => tinyAudioModel({ architecture: "lfm2", audio: "ultravox" })],
  ] as const)(
    "refuses a projector for %s that is too large, and fails only messages for which there is no memory",
    async (_, part, make) => {
      const { model: file, projector } = await make();
      const sizes = { ...options, contextLength: 1024 };
      const { footprint } = await fitModel(file, sizes, { budget: { byMemory: {} } });
      {
        const { name } = await firstDevice();
        await using _small = await smallDevice((footprint.byMemory[name] ?? 0) + 64 * 1024);
        await expect(load(file, { ...sizes, mmproj: projector })).rejects.toMatchObject({
          code: "out_of_memory",
        });
      }
      await using loaded = await load(file, { ...sizes, mmproj: projector });
      const ask = async () =>
        loaded.model.generate({
          messages: [{ role: "user", content: [part] }],
          maxTokens: 4,
          ignoreEos: true,
        });
      const full = await smallDevice(0);
      await expect(ask()).rejects.toMatchObject({ code: "out_of_memory" });
      await full[Symbol.asyncDispose]();
      expect((await ask()).usage.completionTokens).toBe(4);
    },
  );
});
