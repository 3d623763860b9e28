// How much memory there is, and how much of it models may take. Used by load.ts, fit.ts and those who hold several models.
import { totalmem } from "node:os";
import type { DeviceInfo } from "./native.ts";

/** Bytes by where they lie: `host` is the machine's own memory, other names are devices as `buildInfo()` lists them. */
export type MemoryBytes = Readonly<Record<string, number>>;

/** What models may take together. */
export interface MemoryBudget {
  /** In each memory; one that is not named has no bound. */
  byMemory: MemoryBytes;
  /** In all memories together. */
  totalBytes?: number | undefined;
}

/** The name of the machine's own memory. */
export const hostMemory = "host";

/** The rest is for the system, for other programs and for what grows while requests run. */
const shareOfHost = 0.9;
/** Drivers keep something for themselves. */
const shareOfDevice = 0.95;

/** Memory that this process may use at most: a container may have less than the machine. */
export function hostMemoryBytes(): number {
  const constrained = process.constrainedMemory(); // 0, or more than there is, when nothing constrains it
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/**
 * The budget of this machine: most of its memory, and what is free on its GPUs now. With `totalBytes`, that much in all
 * instead of the machine's share.
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

/** The sum, memory by memory. */
export function addMemory(...parts: readonly MemoryBytes[]): MemoryBytes {
  const sum: Record<string, number> = {};
  for (const part of parts) {
    for (const [name, bytes] of Object.entries(part)) sum[name] = (sum[name] ?? 0) + bytes;
  }
  return sum;
}

/** Bytes in all memories together. */
export function totalOf(bytes: MemoryBytes): number {
  return Object.values(bytes).reduce((sum, each) => sum + each, 0);
}

export function fitsInto(bytes: MemoryBytes, { byMemory, totalBytes }: MemoryBudget): boolean {
  const isWithin = Object.entries(bytes).every(([name, each]) => each <= (byMemory[name] ?? Infinity));
  return isWithin && totalOf(bytes) <= (totalBytes ?? Infinity);
}
