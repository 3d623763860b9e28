// The planner with made-up devices: a model whose layers have attention, experts and a cache, split over GPUs by their memory.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contextSizes, largerSizes, type ContextSize } from "../base/context-size.ts";
import { fitsInto, type MemoryBudget } from "../machine/memory.ts";
import {
  planBesideOthers,
  planModel,
  summarizePlan,
  type Placement,
  type PlanRequest,
  type PlacementCost,
} from "./load-plan.ts";
import { addMemory, hostMemory, type MemoryBytes } from "../base/memory-bytes.ts";

interface MadeUp {
  layers: number;
  attention: number;
  experts: number;
  /** Of 1,024 cells in one layer. */
  cache: number;
  /** Names of GPUs; without a spread, each gets an equal share. */
  gpus: readonly string[];
}

const model: MadeUp = { layers: 16, attention: 10, experts: 0, cache: 1, gpus: [] };

/** Layers go to the GPUs from the last one on; the output is one more. */
function takenBy({ layers, attention, experts, cache, gpus }: MadeUp) {
  return ({
    size,
    gpuLayers = layers + 1,
    cpuMoeLayers = 0,
    tensorSplit,
  }: Placement): Promise<PlacementCost> => {
    const cacheBytes = (cache * size.cells) / 1024;
    const parts: MemoryBytes[] = [{ [hostMemory]: attention }];
    const layersIn: Record<string, number> = {};
    const spread = tensorSplit?.flatMap((count, at) => Array.from({ length: count }, () => gpus[at]));
    for (let layer = 0; layer <= layers; layer += 1) {
      const place = layer + gpuLayers - (layers + 1);
      const share = spread?.[place] ?? gpus[Math.floor((place * gpus.length) / gpuLayers)];
      const gpu = place < 0 ? undefined : share;
      const isOutput = layer === layers;
      const device = gpu ?? hostMemory;
      if (!isOutput) layersIn[device] = (layersIn[device] ?? 0) + 1;
      parts.push({ [device]: isOutput ? attention : attention + cacheBytes });
      parts.push({ [layer < cpuMoeLayers ? hostMemory : device]: isOutput ? 0 : experts });
    }
    const byMemory = addMemory(...parts);
    const weightsBytes = layers * (attention + experts) + 2 * attention;
    const contextBytes = layers * cacheBytes;
    return Promise.resolve({ byMemory, layersIn, weightsBytes, contextBytes, computeBytes: 0 });
  };
}

function requestFor(made: MadeUp, budget: MemoryBudget, contextLengthTrain = 8192): PlanRequest {
  return {
    sizes: contextSizes({ parallel: 4 }, contextLengthTrain),
    grown: largerSizes({ parallel: 4 }, contextLengthTrain),
    layers: made.layers,
    gpus: made.gpus,
    movesExperts: () => Promise.resolve(made.experts > 0),
    movesLayers: true,
    budget,
  };
}

const plan = (made: MadeUp, byMemory: MemoryBytes, train?: number) =>
  planModel(takenBy(made), requestFor(made, { byMemory }, train));

describe("planning the memory of a model", () => {
  it("keeps the default where it fits, and all layers on the GPU", async () => {
    const made = { ...model, gpus: ["gpu"] };
    const chosen = await plan(made, { host: 100, gpu: 2000 });
    expect(chosen?.size).toEqual({ contextLength: 8192, cells: 32_768 });
    expect([chosen?.gpuLayers, chosen?.reason]).toEqual([undefined, undefined]);
    if (chosen !== undefined)
      expect(summarizePlan(chosen, 16)).toMatch(
        /^all 16 layers on gpu, a context of up to 8,192 tokens for each request and 32,768 for all together/,
      );
  });

  it("grows the context to what the model was trained for where enough is left, and not beyond", async () => {
    const made = { ...model, attention: 100 };
    const grown = await plan(made, { host: 1e6 }, 65_536);
    expect(grown?.size.contextLength).toBe(65_536);
    expect(grown?.reason).toBe("grown");
    // 16 layers with a cache of 64 are 1,024 more than the default's 512, and the weights have 1,800.
    const less = await plan(made, { host: 1800 + 512 + 1000 }, 65_536);
    expect(less?.size.contextLength).toBe(32_768);
    const unlimited = await plan(made, {}, 65_536);
    expect(unlimited?.size.contextLength).toBe(8192);
  });

  it("shortens the context before anything leaves the GPU", async () => {
    const made = { ...model, gpus: ["gpu"] };
    const chosen = await plan(made, { host: 1e6, gpu: 16 * 10 + 10 + 16 * 4 });
    expect(chosen).toMatchObject({ size: { contextLength: 4096, cells: 4096 }, reason: "shorter" });
  });

  it("moves no more experts to the processor than it must, and layers only if that is not enough", async () => {
    const made = { ...model, experts: 100, gpus: ["gpu"] };
    const all = 16 * 110 + 10 + 16 * 4;
    const some = await plan(made, { host: 1e6, gpu: all - 250 });
    expect(some).toMatchObject({ cpuMoeLayers: 3, reason: "experts" });
    expect(some?.gpuLayers).toBeUndefined();
    const few = await plan(made, { host: 1e6, gpu: 100 });
    expect(few).toMatchObject({ cpuMoeLayers: 16, reason: "layers" });
    expect(few?.gpuLayers).toBeGreaterThan(0);
    const full = await plan(made, { host: 1e6, gpu: 0 });
    if (few === undefined || full === undefined) throw new Error("there was memory for these");
    expect(summarizePlan(few, 16)).toContain("the GPUs have no memory for all layers");
    expect(summarizePlan(full, 16)).toMatch(/^on the processor.+: the GPUs have no memory for any layer\.$/);
    const none = await plan(made, { host: 100, gpu: 10 });
    expect(none).toBeUndefined();
  });

  it("always fits, leaves nothing on the processor without need, and finds something if there is anything", async () => {
    const devices = fc.array(fc.integer({ min: 0, max: 2500 }), { maxLength: 3 });
    const shape = fc.record({
      layers: fc.integer({ min: 1, max: 40 }),
      attention: fc.integer({ min: 1, max: 40 }),
      experts: fc.constantFrom(0, 0, 5, 60),
      cache: fc.integer({ min: 0, max: 8 }),
    });
    const trained = fc.constantFrom(512, 8192, 131_072);
    await fc.assert(
      fc.asyncProperty(
        devices,
        shape,
        fc.integer({ min: 0, max: 4000 }),
        trained,
        async (sizes, made, host, train) => {
          const gpus = sizes.map((_, index) => `gpu${index}`);
          const whole = { ...made, gpus };
          const budget = {
            byMemory: { host, ...Object.fromEntries(gpus.map((gpu, index) => [gpu, sizes[index] ?? 0])) },
          };
          const takes = takenBy(whole);
          const request = requestFor(whole, budget, train);
          const chosen = await planModel(takes, request);
          const fits = async (choice: Placement) => fitsInto((await takes(choice)).byMemory, budget);
          const smallest = request.sizes.at(-1) ?? request.sizes[0];
          const cpuMoeLayers = made.experts > 0 ? made.layers : undefined;
          if (chosen === undefined) {
            expect(await fits({ size: smallest })).toBe(false);
            if (gpus.length > 0)
              expect(await fits({ size: smallest, gpuLayers: 0, cpuMoeLayers })).toBe(false);
            return;
          }
          expect(fitsInto(chosen.byMemory, budget)).toBe(true);
          expect(chosen.byMemory).toEqual((await takes(chosen)).byMemory);
          const isWhole = await fits({ size: request.sizes[0] });
          if (isWhole) expect([undefined, "grown"]).toContain(chosen.reason);
          if (chosen.reason !== "experts" && chosen.reason !== "layers") return;
          // Nothing moves while all of it fits with a long context, or with the chosen one; shorter ones are the last resort.
          const isLong = ({ contextLength, cells }: ContextSize) => contextLength > 4096 || cells > 4096;
          const sameOrLonger = request.sizes.slice(0, request.sizes.indexOf(chosen.size) + 1);
          for (const size of [...request.sizes.filter(isLong), ...sameOrLonger])
            expect(await fits({ size })).toBe(false);
        },
      ),
    );
  });
});

describe("spreading layers over several GPUs", () => {
  it("follows the memory of unequal GPUs, and names the layers of each", async () => {
    const made = { ...model, gpus: ["small", "large"] };
    // 17 layers of 10, the output included, with a cache of 32 each.
    const chosen = await plan(made, { host: 1e6, small: 200, large: 600 });
    expect(chosen?.reason).toBeUndefined();
    expect(chosen?.tensorSplit).toEqual([4, 13]);
    if (chosen !== undefined)
      expect(summarizePlan(chosen, 16)).toMatch(
        /^4 of 16 layers on small, 12 on large, a context of (?:up to )?8,192 tokens/,
      );
  });

  it("moves layers from a GPU that is too full to one with space left", async () => {
    // The experts of the first layers are on the processor, so that the last ones are larger.
    const made = { ...model, experts: 50, cache: 0, gpus: ["first", "last"] };
    const takes = takenBy(made);
    const budget = { byMemory: { host: 1e6, first: 350, last: 350 } };
    const request = { ...requestFor(made, budget), movesExperts: async () => false, movesLayers: false };
    const unevenly = (choice: Placement) => takes({ ...choice, cpuMoeLayers: 8 });
    const size = request.sizes[0];
    expect(fitsInto((await unevenly({ size, tensorSplit: [9, 8] })).byMemory, budget)).toBe(false);
    const chosen = await planModel(unevenly, request);
    expect(chosen?.reason).toBeUndefined();
    expect(chosen?.tensorSplit?.[0]).toBeGreaterThan(9);
  });

  it("puts all layers on GPUs wherever they fit with a layer to spare on each", async () => {
    const bytes = fc.integer({ min: 0, max: 600 });
    await fc.assert(
      fc.asyncProperty(fc.array(bytes, { minLength: 2, maxLength: 4 }), async (sizes) => {
        const gpus = sizes.map((_, index) => `gpu${index}`);
        const made = { ...model, gpus };
        const byMemory = { host: 1e6, ...Object.fromEntries(gpus.map((gpu, at) => [gpu, sizes[at] ?? 0])) };
        const chosen = await plan(made, byMemory);
        const layerBytes = 10 + 32;
        const holds = sizes.map((size) => Math.max(0, Math.floor(size / layerBytes) - 1));
        if (holds.reduce((sum, each) => sum + each, 0) < 17) return;
        expect(chosen?.reason).toBeUndefined();
        expect(chosen?.layersIn[hostMemory]).toBeUndefined();
      }),
    );
  });
});

describe("planning the memory of a model beside others", () => {
  it("stays within what they leave where nothing is reduced for that, and else plans as if they were not there", async () => {
    const bytes = fc.integer({ min: 0, max: 3000 });
    await fc.assert(
      fc.asyncProperty(bytes, bytes, bytes, bytes, async (host, gpu, usedOfHost, usedOfGpu) => {
        const made = { ...model, gpus: ["gpu"] };
        const takes = takenBy(made);
        const budget = { byMemory: { host, gpu } };
        const left = {
          byMemory: { host: Math.max(0, host - usedOfHost), gpu: Math.max(0, gpu - usedOfGpu) },
        };
        const request = requestFor(made, budget, 65_536);
        const chosen = await planBesideOthers(takes, request, left);
        const [size] = request.sizes;
        if (fitsInto((await takes({ size })).byMemory, left)) {
          expect([undefined, "grown"]).toContain(chosen?.reason);
          expect(fitsInto(chosen?.byMemory ?? {}, left)).toBe(true);
        } else expect(chosen).toEqual(await planModel(takes, request));
      }),
    );
  });

  it("is the same plan without others", async () => {
    const made = { ...model, gpus: ["gpu"] };
    const request = requestFor(made, { byMemory: { host: 1e6, gpu: 200 } });
    expect(await planBesideOthers(takenBy(made), request, undefined)).toEqual(
      await planModel(takenBy(made), request),
    );
  });
});
