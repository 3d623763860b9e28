// The GPU that the tests named x.gpu.test.ts run on, and the layer that makes it fail (engine-native/test/vulkan_faults.cpp).
import { buildInfo, type DeviceInfo } from "@ingle/engine";
import { mkdtempSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import path from "node:path";

/** The first device that is no processor. Throws if there is none: the tests are of nothing without it. */
export async function firstDevice(): Promise<DeviceInfo> {
  const { devices, gpu } = await buildInfo();
  const device = devices.find(({ type }) => type === "gpu" || type === "igpu");
  if (device === undefined) throw new Error(`No device was found by the build for ${gpu}: docs/gpu.md.`);
  return device;
}

const faults = process.env["INGLE_VULKAN_FAULTS"];

/** Vulkan's devices fail on demand; there is no such layer for others. */
export const canFail = faults !== undefined;

// A folder of its own for each test file: the device of a file whose process died stays lost for that file alone.
if (faults !== undefined) process.env["INGLE_VULKAN_FAULTS"] = mkdtempSync(path.join(faults, "device-"));

function faultFile(name: "memory" | "lost"): string {
  return path.join(process.env["INGLE_VULKAN_FAULTS"] ?? "", name);
}

/** Until it is disposed, the device has so many bytes. */
export async function smallDevice(bytes: number): Promise<AsyncDisposable> {
  return faultIn(faultFile("memory"), String(Math.floor(bytes)));
}

/** The device is lost after so many more submissions, until this is disposed. */
export async function lostDevice(submissions: number): Promise<AsyncDisposable> {
  return faultIn(faultFile("lost"), String(submissions));
}

async function faultIn(file: string, text: string): Promise<AsyncDisposable> {
  await writeFile(file, text);
  return { [Symbol.asyncDispose]: async () => rm(file, { force: true }) };
}
