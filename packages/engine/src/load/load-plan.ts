// Chooses how a model is loaded into the available memory: the length of its context, the number of layers on GPUs, and the
// number of layers whose experts are on the CPU. It only asks what a choice would take, so that tests can make up devices.
import type { ContextSize } from "../base/context-size.ts";
import { fitsInto, type MemoryBudget } from "../machine/memory.ts";
import { spreadLayers, type LayerCounts } from "./spread-layers.ts";
import { hostMemory, formatBytes, sumBytes, type MemoryBytes } from "../base/memory-bytes.ts";

export interface Placement {
  size: ContextSize;
  /** Undefined for all, or as requested. */
  gpuLayers?: number | undefined;
  /** Layers whose experts are on the CPU; undefined for none, or as requested. */
  cpuMoeLayers?: number | undefined;
  /** Layers of each GPU, the output included; undefined for llama.cpp's shares, or as requested. */
  tensorSplit?: LayerCounts | undefined;
}

/** What a choice would take, in bytes. */
export interface PlacementCost {
  byMemory: MemoryBytes;
  /** How many layers each memory's device computes. */
  layersIn: Readonly<Record<string, number>>;
  weightsBytes: number;
  contextBytes: number;
  computeBytes: number;
}

export type MeasurePlacement = (choice: Placement) => Promise<PlacementCost>;

export interface PlanRequest {
  /** From the preferred size to the smallest acceptable one. */
  sizes: readonly [ContextSize, ...ContextSize[]];
  /** Sizes above the preferred one, smallest first. */
  grown: readonly ContextSize[];
  layers: number;
  /** The GPUs that the plan spreads the layers over, in order; empty if there is only one, or if their shares were requested. */
  gpus: readonly string[];
  /** Whether its layers have experts whose placement was not requested. */
  movesExperts: () => Promise<boolean>;
  /** Whether the number of layers on GPUs was not requested. */
  movesLayers: boolean;
  budget: MemoryBudget;
}

export interface Plan extends Placement, PlacementCost {
  /** Undefined: the preferred size and placement. */
  reason?: "grown" | "shorter" | "experts" | "layers";
}

/**
 * The shortest context for which it is worth keeping all layers on GPUs: a shorter one is used only if fewer layers do not help
 * either.
 */
const contextLengthWorth = 4096;

/**
 * The fastest choice that fits: all layers on their devices, with a shorter context down to a point; then as few layers as
 * possible without their experts, which take most of such a model's memory but little of its work; then as many layers as fit. If
 * memory is left, the context grows. Undefined if nothing fits.
 */
export async function planModel(measure: MeasurePlacement, request: PlanRequest): Promise<Plan | undefined> {
  const { sizes, budget } = request;
  const takes = spreading(measure, request);
  const [preferred] = sizes;
  const tried = async (choice: Placement): Promise<Plan | undefined> => {
    const taken = await takes(choice);
    return fitsInto(taken.byMemory, budget) ? { ...choice, ...taken } : undefined;
  };
  let isOnDevices = false;
  for (const size of sizes) {
    const taken = await takes({ size });
    isOnDevices ||= Object.keys(taken.byMemory).some((memory) => memory !== hostMemory);
    if (fitsInto(taken.byMemory, budget)) {
      const found: Plan = { size, ...taken };
      if (size !== preferred) return { ...found, reason: "shorter" };
      return await grow(found, request.grown, takes, budget);
    }
    const isLast = size === sizes.at(-1);
    const isShort = size.contextLength <= contextLengthWorth && size.cells <= contextLengthWorth;
    if (!isOnDevices || !(isShort || isLast)) continue;
    const moved = await moveToProcessor(tried, size, request);
    // With layers on the CPU, some memory of the devices is left over.
    if (moved !== undefined) {
      const larger = sizes.slice(0, sizes.indexOf(size)).toReversed();
      return await grow(moved, larger, takes, budget);
    }
  }
  return undefined;
}

/**
 * The same beside other models: the memory that they leave is enough if the model is placed there as without a limit, with the
 * default context or a longer one. Otherwise the model gets the best that the whole budget allows, and others are evicted.
 */
export async function planBesideOthers(
  takes: MeasurePlacement,
  request: PlanRequest,
  left: MemoryBudget | undefined,
): Promise<Plan | undefined> {
  if (left === undefined) return await planModel(takes, request);
  const [preferred] = request.sizes;
  const unreduced = { sizes: [preferred], movesExperts: async () => false, movesLayers: false } as const;
  const beside = await planModel(takes, { ...request, ...unreduced, budget: left });
  return beside ?? (await planModel(takes, request));
}

/** Finds the spread over several GPUs with each choice. */
function spreading(
  takes: MeasurePlacement,
  { gpus, layers, budget }: PlanRequest,
): (choice: Placement) => Promise<PlacementCost & Pick<Placement, "tensorSplit">> {
  return async (choice) => {
    // The output counts as a layer.
    const onGpus = Math.min(choice.gpuLayers ?? layers + 1, layers + 1);
    if (gpus.length < 2 || onGpus === 0) return await takes(choice);
    const request = { gpus, layers: onGpus, budget };
    return await spreadLayers((tensorSplit) => takes({ ...choice, tensorSplit }), request);
  };
}

async function moveToProcessor(
  tried: (choice: Placement) => Promise<Plan | undefined>,
  size: ContextSize,
  { layers, movesExperts, movesLayers }: PlanRequest,
): Promise<Plan | undefined> {
  const hasExperts = await movesExperts();
  if (hasExperts) {
    const found = await least(1, layers, (cpuMoeLayers) => tried({ size, cpuMoeLayers }));
    if (found !== undefined) return { ...found, reason: "experts" };
  }
  if (!movesLayers) return undefined;
  const cpuMoeLayers = hasExperts ? layers : undefined;
  // The output counts as a layer, so that all of them are layers + 1.
  const found = await least(1, layers + 1, (fewer) =>
    tried({ size, gpuLayers: layers + 1 - fewer, cpuMoeLayers }),
  );
  return found === undefined ? undefined : { ...found, reason: "layers" };
}

/** The plan and its reason, in words. */
export function summarizePlan(
  { size, gpuLayers, cpuMoeLayers, reason, byMemory, layersIn }: Plan,
  layers: number,
): string {
  const { contextLength, cells } = size;
  const why = reason === "layers" && gpuLayers === 0 ? "noLayers" : reason;
  const experts = cpuMoeLayers === undefined ? "" : `, the experts of ${cpuMoeLayers} on the processor`;
  const each = `${contextLength.toLocaleString("en-US")} tokens`;
  const context =
    cells === contextLength
      ? `a context of ${each}`
      : `a context of up to ${each} for each request and ${cells.toLocaleString("en-US")} for all together`;
  return (
    `${describePlacement({ byMemory, layersIn }, layers)}${experts}, ${context}, ` +
    `${formatBytes(sumBytes(byMemory))}${why === undefined ? "" : `: ${reasons[why]}`}.`
  );
}

/** Where the layers are: "all 16 layers on CUDA0", "9 of 16 layers on CUDA0, 7 on CUDA1". */
function describePlacement(
  { byMemory, layersIn }: Pick<PlacementCost, "byMemory" | "layersIn">,
  layers: number,
): string {
  const devices = Object.keys(byMemory).filter((memory) => memory !== hostMemory);
  const [first, ...others] = devices;
  if (first === undefined) return "on the processor";
  const countOn = (device: string): number => layersIn[device] ?? 0;
  if (countOn(first) === layers) return `all ${layers} layers on ${first}`;
  const rest = [...others, ...(countOn(hostMemory) > 0 ? [hostMemory] : [])];
  const named = rest.map(
    (device) => `${countOn(device)} on ${device === hostMemory ? "the processor" : device}`,
  );
  return [`${countOn(first)} of ${layers} layers on ${first}`, ...named].join(", ");
}

const reasons = {
  grown: "there is memory for a longer context than the default",
  shorter: "there is no memory for a longer context",
  experts: "the GPUs have no memory for all experts",
  layers: "the GPUs have no memory for all layers",
  noLayers: "the GPUs have no memory for any layer",
} as const;

/** The result for the smallest number from `low` to `high` that has one; every larger number has one too. */
async function least<T>(
  low: number,
  high: number,
  of: (number: number) => Promise<T | undefined>,
): Promise<T | undefined> {
  let found: T | undefined;
  let [first, last] = [low, high];
  while (first <= last) {
    const middle = Math.floor((first + last) / 2);
    const result = await of(middle);
    if (result === undefined) first = middle + 1;
    else {
      found = result;
      last = middle - 1;
    }
  }
  return found;
}

/** The plan with the largest size that leaves enough memory. */
async function grow(
  plan: Plan,
  larger: readonly ContextSize[],
  takes: ReturnType<typeof spreading>,
  budget: MemoryBudget,
): Promise<Plan> {
  const { gpuLayers, cpuMoeLayers, reason } = plan;
  // Without a limit, the free memory is unknown.
  if (Object.keys(plan.byMemory).some((memory) => budget.byMemory[memory] === undefined)) return plan;
  const tried = async (index: number): Promise<Plan | undefined> => {
    const size = larger[index];
    if (size === undefined) return undefined;
    const taken = await takes({ size, gpuLayers, cpuMoeLayers });
    const isEnough = leavesEnough(plan, taken, budget);
    return isEnough ? { size, gpuLayers, cpuMoeLayers, ...taken, reason: reason ?? "grown" } : undefined;
  };
  // Usually there is memory for the longest one, and each attempt takes a while.
  const last = larger.length - 1;
  const longest = await tried(last);
  return longest ?? (await least(1, last, (shorter) => tried(last - shorter))) ?? plan;
}

/**
 * A longer context may take half of what is left in each memory, and in host memory at most as much as the weights: other
 * programs and models need memory too, and a cache takes memory even if it is never filled.
 */
function leavesEnough(plan: PlacementCost, grown: PlacementCost, budget: MemoryBudget): boolean {
  const enough = Object.entries(grown.byMemory).every(([memory, bytes]) => {
    const before = plan.byMemory[memory] ?? 0;
    const left = (budget.byMemory[memory] ?? 0) - before;
    const most = memory === hostMemory ? Math.min(left / 2, plan.weightsBytes) : left / 2;
    return bytes - before <= most;
  });
  return enough && fitsInto(grown.byMemory, budget);
}
