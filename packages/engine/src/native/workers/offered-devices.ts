// Selects the devices that a worker offers, and how much of their memory.
import { invalidRequest } from "../../base/errors.ts";
import { hostMemoryBytes } from "../../machine/memory.ts";
import type { DeviceInfo } from "../addon.ts";
import type { OfferedDevice } from "./hello.ts";

/** The share of the free memory that is offered. The rest is for the system, drivers and buffers that grow during computation. */
const shareOffered = 0.9;

interface OfferOptions {
  devices?: readonly string[] | undefined;
  bytesMax?: number | undefined;
}

/** The offer of this machine. Throws `invalid_request` for an unknown device name. */
export function offeredDevices(all: readonly DeviceInfo[], options: OfferOptions): OfferedDevice[] {
  return chosen(all, options.devices).map((device) => ({
    name: device.name,
    description: device.description,
    type: device.type,
    bytes: Math.floor(Math.min(options.bytesMax ?? Infinity, freeMemory(device) * shareOffered)),
  }));
}

function chosen(all: readonly DeviceInfo[], names: readonly string[] | undefined): DeviceInfo[] {
  if (names === undefined) {
    for (const type of ["gpu", "igpu", "cpu"] as const) {
      const found = all.filter((device) => device.type === type);
      if (found.length > 0) return found;
    }
  }
  return (names ?? []).map((name) => {
    const found = all.find((device) => device.name.toLowerCase() === name.toLowerCase());
    if (found !== undefined) return found;
    const known = all.map((device) => device.name).join(", ");
    throw invalidRequest("device", `this machine has no ${name}. It has: ${known}.`);
  });
}

/** Free memory; a container's limit may be lower than the memory that the system reports. */
function freeMemory({ type, memoryFree }: DeviceInfo): number {
  return type === "cpu" ? Math.min(memoryFree, hostMemoryBytes()) : memoryFree;
}
