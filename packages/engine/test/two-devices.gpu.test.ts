// One model on two GPUs. Vulkan shows the same device twice, so that one device is enough.
import { buildInfo, fitModel, load, memoryBudget, type LoadOptions } from "@ingle/engine";
import { exactArithmetic, tinyModel } from "@ingle/fixtures";
import { describe, expect, it } from "vitest";

// Read when the addon is first used.
const visible = process.env["GGML_VK_VISIBLE_DEVICES"];
if (visible !== undefined)
  process.env["GGML_VK_VISIBLE_DEVICES"] = `${visible.split(",")[0]},${visible.split(",")[0]}`;

const options = { threads: 1, parallel: 1, contextLength: 512 } as const;
const lfm2 = { architecture: "lfm2", embedding: 256, feedForward: 1024 } as const;

async function twoGpus(): Promise<[string, string]> {
  const [first, second] = (await buildInfo()).devices.filter(({ type }) => type === "gpu");
  if (first === undefined || second === undefined) throw new Error("There are not two GPUs.");
  return [first.name, second.name];
}

/** What a model is planned to get if the GPUs have so many bytes. */
async function planned(file: string, [first, second]: [number, number], more: LoadOptions = {}) {
  const gpus = await twoGpus();
  const { byMemory } = memoryBudget((await buildInfo()).devices);
  const budget = { byMemory: { ...byMemory, [gpus[0]]: first, [gpus[1]]: second } };
  const fitted = await fitModel(file, { ...options, ...more }, { budget });
  const layers = [fitted.layersIn[gpus[0]] ?? 0, fitted.layersIn[gpus[1]] ?? 0] as const;
  return { ...fitted, layers };
}

describe.runIf(visible !== undefined)("a model on two GPUs", () => {
  const plenty = 2 ** 34;

  it("is spread by their memory, and loaded as it was planned", async () => {
    const file = await tinyModel(lfm2);
    expect((await planned(file, [plenty, plenty])).layers).toEqual([3, 1]); // and the output on the second
    expect((await planned(file, [plenty, 4 * plenty])).layers).toEqual([1, 3]);
    expect((await planned(file, [plenty, plenty], { tensorSplit: [3, 1] })).layers).toEqual([4, 0]);
    const { options: chosen, layersIn, summary } = await planned(file, [3 * plenty, plenty]);
    expect(Object.values(layersIn)).toEqual([4]);
    expect(summary).toContain("4 layers on");
    await using loaded = await load(file, chosen);
    expect((await loaded.model.generate({ prompt: "In two places", maxTokens: 4 })).text).not.toBe("");
  });

  it("leaves a GPU that is too full for its share, before anything leaves both", async () => {
    const file = await tinyModel(lfm2);
    const { footprint, layers } = await planned(file, [plenty, plenty]);
    const [first, second] = (await twoGpus()).map((gpu) => footprint.byMemory[gpu] ?? 0);
    const moved = await planned(file, [(first ?? 0) - 1, (second ?? 0) + 2 * (first ?? 0)]);
    expect(moved.isReduced).toBe(false);
    expect(moved.layers[0]).toBeLessThan(layers[0]);
    expect(moved.layers[0] + moved.layers[1]).toBe(4);
  });

  it.each(["llama", "lfm2"] as const)("generates of a %s what one GPU does", async (architecture) => {
    const file = await tinyModel({ architecture });
    const gpus = await twoGpus();
    const textOn = async (more: LoadOptions): Promise<string> => {
      await using loaded = await load(file, { ...options, ...exactArithmetic, ...more });
      return (await loaded.model.generate({ prompt: "On and on", temperature: 0, maxTokens: 24 })).text;
    };
    const one = await textOn({ splitMode: "none", mainGpu: 1 });
    expect(await textOn({ devices: [gpus[0]] })).toBe(one);
    expect(await textOn({ tensorSplit: [1, 1] })).toBe(one);
    if (architecture === "llama")
      expect(await textOn({ tensorSplit: [1, 3], kvUnified: false, parallel: 2 })).toBe(one);
  });
});
