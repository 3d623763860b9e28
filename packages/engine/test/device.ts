// The GPU that the tests named x.gpu.test.ts run on, and the layer that makes it fail (engine-native/test/vulkan_faults.cpp).
import { buildInfo, type DeviceInfo } from "@ingle/engine";
import { rm, writeFile } from "node:fs/promises";
import path from "node:path";

/** The first device that is no processor. Throws if there is none: the tests are of nothing without it. */
export async function firstDevice(): Promise<DeviceInfo> {
  const { devices, gpu } = await buildInfo();
  const device = devices.find(({ type }) => type === "gpu" || type === "igpu");
  if (device === undefined) throw new Error(`No device was found by the build for ${gpu}: docs/gpu.md.`);
  return device;
}

/** Vulkan's devices fail on demand; there is no such layer for others. */
export const canFail = process.env["INGLE_VULKAN_FAULTS"] !== undefined;

function faultFile(name: "memory" | "lost"): string {
  return path.join(process.env["INGLE_VULKAN_FAULTS"] ?? "", name);
}

/** Until it is disposed, the device has so many bytes. */
export async function smallDevice(bytes: number): Promise<AsyncDisposable> {
  return faultIn(faultFile("memory"), String(Math.floor(bytes)));
}

/** Until it is disposed, the device is lost. */
export async function lostDevice(): Promise<AsyncDisposable> {
  return faultIn(faultFile("lost"), "");
}

async function faultIn(file: string, text: string): Promise<AsyncDisposable> {
  await writeFile(file, text);
  return { [Symbol.asyncDispose]: async () => rm(file, { force: true }) };
}
