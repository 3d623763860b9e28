// Default sizes for the device that computes: a batch that takes a CPU seconds leaves a GPU idle.
import { buildInfo, type DeviceInfo } from "../native/addon.ts";

interface DeviceSizes {
  /** Tokens of one step. */
  batchTokens: number;
  /** Whether every request may have a whole context of KV cells. */
  hasWholeContexts: boolean;
}

const gibibyte = 1024 ** 3;

/** The CPU's: a step of this many tokens takes it seconds. */
const processorSizes: DeviceSizes = { batchTokens: 512, hasWholeContexts: false };

/**
 * The sizes for GPUs with this much memory in total. For a model with eight billion parameters of 16 bits, the buffers for 2,048
 * tokens take about 0.5 GiB, and ten contexts of 8,192 tokens 10 GiB.
 */
const gpuSizes: readonly (DeviceSizes & { bytesMin: number })[] = [
  { bytesMin: 40 * gibibyte, batchTokens: 2048, hasWholeContexts: true },
  { bytesMin: 12 * gibibyte, batchTokens: 1024, hasWholeContexts: false },
];

/** The options that decide which devices compute. */
interface Placed {
  devices?: readonly string[] | undefined;
  gpuLayers?: number | "auto" | "all" | undefined;
  cpuMoeLayers?: number | undefined;
  overrideTensor?: readonly string[] | undefined;
  kvOffload?: boolean | undefined;
  rpc?: unknown;
}

/** The sizes for a model with this placement on a machine with these devices: the CPU's if it computes a part of the model. */
export function sizesFor(devices: readonly DeviceInfo[], placed: Placed): DeviceSizes {
  if (isPartlyOnProcessor(placed)) return processorSizes;
  const bytes = devices
    // An integrated GPU has much memory, but is hardly faster than the CPU.
    .filter(({ name, type }) => type === "gpu" && (placed.devices?.includes(name) ?? true))
    .reduce((sum, { memoryTotal }) => sum + memoryTotal, 0);
  return gpuSizes.find(({ bytesMin }) => bytes >= bytesMin) ?? processorSizes;
}

/** The sizes on this machine. */
export async function sizesByDevice(placed: Placed): Promise<DeviceSizes> {
  // Listing devices takes a while, and fit.ts asks often.
  if (isPartlyOnProcessor(placed)) return processorSizes;
  devicesFound ??= buildInfo().then(({ devices }) => devices);
  return sizesFor(await devicesFound, placed);
}

let devicesFound: Promise<readonly DeviceInfo[]> | undefined;

function isPartlyOnProcessor({
  gpuLayers,
  cpuMoeLayers = 0,
  overrideTensor,
  kvOffload,
  rpc,
}: Placed): boolean {
  const hasAllLayers = typeof gpuLayers !== "number" && cpuMoeLayers === 0 && overrideTensor === undefined;
  return !hasAllLayers || kvOffload === false || rpc !== undefined;
}
