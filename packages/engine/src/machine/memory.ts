// The machine's memory, and how much of it models may use.
import { totalmem } from "node:os";
import { hostMemory, sumBytes, type MemoryBytes } from "../base/memory-bytes.ts";
import type { DeviceInfo, NativeMemoryLimits } from "@ingle/engine-native";

/** The memory that all models together may use. */
export interface MemoryBudget {
  /** Bytes in each memory; a memory that is not listed is unlimited. */
  byMemory: MemoryBytes;
  /** Bytes in all memories together. Default: unlimited. */
  totalBytes?: number | undefined;
}

/** The share of RAM that models may use. The rest is for the system, other programs, and memory that grows while requests run. */
const shareOfHost = 0.9;
/** The share of a GPU's free memory that models may use. The rest is for drivers. */
const shareOfDevice = 0.95;

/** The memory that this process may use, in bytes: a container may have less than the machine. */
export function hostMemoryBytes(): number {
  const constrained = process.constrainedMemory(); // 0, or more than the machine has, if nothing constrains it
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/**
 * The budget of this machine: 90 % of its memory, and 95 % of the free memory of its GPUs. With `totalBytes`, that many bytes in
 * all, instead of the share of the machine's memory.
 */
export function memoryBudget(devices: readonly DeviceInfo[], totalBytes?: number): MemoryBudget {
  const byMemory: Record<string, number> = {
    [hostMemory]: totalBytes ?? Math.floor(hostMemoryBytes() * shareOfHost),
  };
  for (const { name, type, memoryFree } of devices) {
    if (type === "gpu" || type === "igpu") byMemory[name] = Math.floor(memoryFree * shareOfDevice);
  }
  return { byMemory, totalBytes };
}

/** Whether the bytes are within the budget, in each memory and in all. */
export function fitsInto(bytes: MemoryBytes, { byMemory, totalBytes }: MemoryBudget): boolean {
  const isWithin = Object.entries(bytes).every(([name, each]) => each <= (byMemory[name] ?? Infinity));
  return isWithin && sumBytes(bytes) <= (totalBytes ?? Infinity);
}

/** What these bytes leave of the budget. */
export function remainingBudget({ byMemory, totalBytes }: MemoryBudget, bytes: MemoryBytes): MemoryBudget {
  const left = Object.entries(byMemory).map(([name, most]) => [name, Math.max(0, most - (bytes[name] ?? 0))]);
  return {
    byMemory: Object.fromEntries(left),
    totalBytes: totalBytes === undefined ? undefined : Math.max(0, totalBytes - sumBytes(bytes)),
  };
}

/** The budget in the addon's terms; without one, nothing is limited. */
export function nativeLimits({ byMemory, totalBytes }: MemoryBudget = { byMemory: {} }): NativeMemoryLimits {
  const whole = (bytes = Infinity): number => Math.floor(Math.min(bytes, Number.MAX_SAFE_INTEGER));
  const memories = Object.entries(byMemory).map(([name, bytes]) => ({
    device: name === hostMemory ? "" : name,
    bytes: whole(bytes),
  }));
  return { memories, totalBytes: whole(totalBytes) };
}
