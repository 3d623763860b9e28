// Which devices a worker offers, and how much of each.
import { EngineError } from "../errors.ts";
import { hostMemoryBytes } from "../memory.ts";
import type { DeviceInfo } from "../native.ts";
import type { OfferedDevice } from "./hello.ts";

/** The rest is for the system, for drivers and for what grows while the worker computes. */
const shareOffered = 0.9;

export interface OfferOptions {
  devices?: readonly string[] | undefined;
  bytesMax?: number | undefined;
}

/** Throws `invalid_request` for a device that this machine does not have. */
export function offeredDevices(all: readonly DeviceInfo[], options: OfferOptions): OfferedDevice[] {
  return chosen(all, options.devices).map((device) => ({
    name: device.name,
    description: device.description,
    type: device.type,
    bytes: Math.floor(Math.min(options.bytesMax ?? Infinity, freeOf(device) * shareOffered)),
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
    throw new EngineError("invalid_request", `device: this machine has no ${name}. It has: ${known}.`, {
      details: { param: "device" },
    });
  });
}

/** A container may have less memory than the machine says. */
function freeOf({ type, memoryFree }: DeviceInfo): number {
  return type === "cpu" ? Math.min(memoryFree, hostMemoryBytes()) : memoryFree;
}
