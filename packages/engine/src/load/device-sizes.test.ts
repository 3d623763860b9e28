import { expect, test } from "vitest";
import { sizesFor } from "./device-sizes.ts";
import type { DeviceInfo } from "../native/addon.ts";

const gibibyte = 1024 ** 3;

function device(name: string, gib: number, type: DeviceInfo["type"] = "gpu"): DeviceInfo {
  return {
    name,
    type,
    backend: "",
    description: "",
    memoryTotal: gib * gibibyte,
    memoryFree: gib * gibibyte,
  };
}

const processor = { batchTokens: 512, hasWholeContexts: false };

test("a step has more tokens on GPUs with more memory, and requests have whole contexts on the largest", () => {
  const sizes = [8, 16, 24, 80].map((gib) => sizesFor([device("CUDA0", gib), device("CPU", 256, "cpu")], {}));
  expect(sizes.map(({ batchTokens }) => batchTokens)).toEqual([512, 1024, 1024, 2048]);
  expect(sizes.map(({ hasWholeContexts }) => hasWholeContexts)).toEqual([false, false, false, true]);
  expect(sizesFor([device("CUDA0", 24), device("CUDA1", 24)], {}).batchTokens).toBe(2048);
});

test("only the devices that compute count, and integrated ones are like the processor", () => {
  const devices = [device("CUDA0", 24), device("CUDA1", 24), device("Vulkan9", 64, "igpu")];
  expect(sizesFor(devices, { devices: ["CUDA1"] }).batchTokens).toBe(1024);
  expect(sizesFor(devices, { devices: ["none"] })).toEqual(processor);
  expect(sizesFor([device("Vulkan0", 64, "igpu")], {})).toEqual(processor);
});

test("what the processor or other machines compute in part has the processor's sizes", () => {
  const devices = [device("CUDA0", 80)];
  for (const placed of [
    { gpuLayers: 12 },
    { gpuLayers: 0 },
    { cpuMoeLayers: 3 },
    { overrideTensor: ["exps=CPU"] },
    { kvOffload: false },
    { rpc: {} },
  ]) {
    expect(sizesFor(devices, placed)).toEqual(processor);
  }
  expect(sizesFor(devices, { gpuLayers: "all", cpuMoeLayers: 0 }).batchTokens).toBe(2048);
});
