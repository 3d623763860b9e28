// Describes this machine for the management of a server.
import { availableParallelism, cpus } from "node:os";
import path from "node:path";
import { buildInfo, freeBytesOn, hostMemoryBytes, libraryPaths, type DeviceInfo } from "@ingle/engine";
import type { Machine, MachineDevice } from "@ingle/protocol";
import { ingleVersion } from "./this-package.ts";

/** Throws `native_missing`. */
export async function thisMachine(env: NodeJS.ProcessEnv): Promise<Machine> {
  const { devices, llamaCpp } = await buildInfo();
  const { modelsDir } = libraryPaths(env);
  const available = process.availableMemory();
  return {
    platform: `${process.platform} ${process.arch}`,
    processor: processorName(devices),
    cores: availableParallelism(),
    memory_bytes: hostMemoryBytes(),
    available_bytes: Math.min(available, hostMemoryBytes()),
    library_path: modelsDir,
    disk_free_bytes: await freeBytesFor(modelsDir),
    devices: devices.map(toDevice),
    version: ingleVersion(),
    llama_cpp: llamaCpp.version,
  };
}

/** Node does not know it if the system hides it from programs, as on some ARM machines. */
function processorName(devices: readonly DeviceInfo[]): string {
  const model = cpus()[0]?.model.trim() ?? "";
  if (model !== "" && model !== "unknown") return model;
  return devices.find(({ type }) => type === "cpu")?.description ?? process.arch;
}

const deviceKinds: Record<DeviceInfo["type"], MachineDevice["kind"]> = {
  cpu: "cpu",
  gpu: "gpu",
  igpu: "integrated_gpu",
  accel: "accelerator",
};

function toDevice({ name, description, type, memoryTotal, memoryFree }: DeviceInfo): MachineDevice {
  return { name, description, kind: deviceKinds[type], memory_bytes: memoryTotal, free_bytes: memoryFree };
}

/** The free space on the disk where the folder is or will be created. Null if the system does not report it. */
async function freeBytesFor(folder: string): Promise<number | null> {
  for (let place = folder; ; place = path.dirname(place)) {
    try {
      return await freeBytesOn(place);
    } catch {
      if (path.dirname(place) === place) return null;
    }
  }
}
