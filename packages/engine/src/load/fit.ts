// Finds settings with which a model fits into memory, before loading it: llama.cpp computes the layout without allocating.
import path from "node:path";
import { checkAdapters, type CheckedAdapter } from "../library/adapters/adapter-file.ts";
import {
  checkContextLength,
  contextLengthDefault,
  contextSize,
  contextSizes,
  largerSizes,
  leastSize,
  type ContextSize,
  type RequestedSize,
} from "../base/context-size.ts";
import { sizesByDevice } from "./device-sizes.ts";
import { EngineError } from "../base/errors.ts";
import { smallerKvBits, type KvBits, type RequestedKvTypes } from "./kv-cache.ts";
import {
  checkLoadOptions,
  type CheckedLoadOptions,
  type LoadOptions,
  withDraftFile,
} from "./load-options.ts";
import {
  contextOptions,
  threadCount,
  draftWeightsOptions,
  longestContextLength,
  weightsOptions,
} from "./native-options.ts";
import { fitsInto, type MemoryBudget } from "../machine/memory.ts";
import {
  buildInfo,
  callAddon,
  type DeviceInfo,
  type NativeDraftOptions,
  type NativeLoadOptions,
  type NativeMeasure,
} from "../native/addon.ts";
import { peekFile } from "../library/model-facts.ts";
import { planBesideOthers, summarizePlan, type Placement, type MeasurePlacement } from "./load-plan.ts";
import { nativeProjector } from "../library/projector.ts";
import { leaseWorkers } from "../native/workers/worker-pool.ts";
import { hostMemory, formatBytes, toMemoryBytes, sumBytes, type MemoryBytes } from "../base/memory-bytes.ts";

/** The memory of a loaded model, in bytes. */
export interface Footprint {
  weightsBytes: number;
  /** The KV cache and recurrent state. */
  contextBytes: number;
  /** Compute buffers. */
  computeBytes: number;
  /** The total by memory. */
  byMemory: MemoryBytes;
}

export interface FitOptions {
  /** The memory that all models may take together. */
  budget: MemoryBudget;
  /**
   * The part of the budget that other models currently leave. The model stays within it if its default context and placement fit
   * there; otherwise it may take the whole budget. Default: the budget.
   */
  left?: MemoryBudget | undefined;
  signal?: AbortSignal | undefined;
}

export interface FittedModel {
  /** The given options, with the chosen context, layers and experts; pass them to `load()`. */
  options: LoadOptions & ContextSize;
  /** Whether the context is shorter than the default, or less is on GPUs, to fit the memory. */
  isReduced: boolean;
  /** Whether the settings are the same as without a budget. */
  isDefault: boolean;
  /** The choice and its reason, in one sentence. */
  summary: string;
  footprint: Footprint;
  /** How many layers are on which device, as listed by `buildInfo()`; `host` is the processor. */
  layersIn: Readonly<Record<string, number>>;
  /** Layers whose experts are on the processor, although the layers may be on GPUs. */
  cpuMoeLayers: number;
}

/** Computes a model's memory with a context of this size. Throws the signal's reason and the addon's errors. */
export type Measure = (options: CheckedLoadOptions, size: ContextSize) => Promise<NativeMeasure>;

/**
 * Finds the fastest settings for `load()` with which a model stays within `budget`: a longer context than the default if there is
 * memory for it; otherwise a shorter one, then experts and layers on the CPU instead of the GPUs. Given options are not changed.
 * Reads the file's header, not its weights.
 *
 * Throws `out_of_memory` with the sizes in `details` and the options that would fit in the message, and what `load()` throws for
 * an unreadable file or wrong options.
 */
export async function fitModel(
  modelPath: string,
  options: LoadOptions,
  { budget, left, signal }: FitOptions,
): Promise<FittedModel> {
  const { checked, file, measure } = await prepareMeasure(modelPath, options, signal);
  // Limited to what the model was trained for, this is the default size, which is tried first.
  const { parallel, kvUnified } = checked;
  let measured = await measure(checked, contextSize({ parallel, kvUnified }, contextLengthDefault));
  const { contextLengthTrain } = measured;
  const layers = measured.layerDevices.length;
  checkContextLength(checked, contextLengthTrain);
  const sizes = contextSizes(await withWholeContexts(checked), contextLengthTrain);
  const gpus = await gpusToSpreadOver(checked, budget);
  let isMeasured = gpus.length < 2 && checked.contextLength === undefined && checked.cells === undefined;
  const takes: MeasurePlacement = async ({ size, ...place }) => {
    if (!isMeasured) measured = await measure({ ...checked, ...given(place) }, size);
    isMeasured = false;
    return { ...toFootprint(measured), layersIn: layersIn(measured) };
  };
  const request = {
    sizes,
    grown: largerSizes(checked, contextLengthTrain),
    layers,
    gpus,
    movesLayers: (checked.gpuLayers ?? "auto") === "auto",
    movesExperts: () => movesExperts(file, checked),
    budget,
  };
  const plan = await planBesideOthers(takes, request, left);
  if (plan !== undefined) {
    const { size, gpuLayers, cpuMoeLayers, tensorSplit, reason, layersIn: onDevices, ...footprint } = plan;
    const place = given({ gpuLayers, cpuMoeLayers, tensorSplit });
    return {
      options: { ...options, ...size, ...place },
      isReduced: reason !== undefined && reason !== "grown",
      isDefault: reason === undefined,
      summary: summarizePlan(plan, layers),
      footprint,
      layersIn: onDevices,
      cpuMoeLayers: cpuMoeLayers ?? checked.cpuMoeLayers ?? 0,
    };
  }
  const { contextLength } = sizes.at(-1) ?? sizes[0];
  throw refusal(file, measured, {
    contextLength,
    budget,
    ways: await waysToFit(measure, checked, { contextLength, budget }),
  });
}

/**
 * If the context length was given and GPUs have much memory, each request gets cells for all of it. Otherwise, remaining memory
 * is used for a longer context, which few requests fill at the same time.
 */
async function withWholeContexts(options: CheckedLoadOptions): Promise<CheckedLoadOptions & RequestedSize> {
  if (options.contextLength === undefined || options.kvUnified === true) return options;
  return { ...options, hasWholeContexts: (await sizesByDevice(options)).hasWholeContexts };
}

/** The options that the plan has chosen: those that are undefined stay as requested. */
function given({ gpuLayers, cpuMoeLayers, tensorSplit }: Omit<Placement, "size">) {
  return {
    ...(gpuLayers === undefined ? {} : { gpuLayers }),
    ...(cpuMoeLayers === undefined ? {} : { cpuMoeLayers }),
    ...(tensorSplit === undefined ? {} : { tensorSplit: [...tensorSplit] }),
  };
}

/** The GPUs of this machine that may hold layers, if no option says how they share them, and each has a limit. */
async function gpusToSpreadOver(options: CheckedLoadOptions, { byMemory }: MemoryBudget): Promise<string[]> {
  const { devices: named, splitMode = "layer", tensorSplit, gpuLayers, rpc } = options;
  if (splitMode !== "layer" || tensorSplit !== undefined || gpuLayers === 0 || rpc !== undefined) return [];
  const { devices } = await buildInfo();
  const deviceNames = (type: DeviceInfo["type"]): string[] =>
    devices.filter((device) => device.type === type).map(({ name }) => name);
  const [gpus, integrated] = [deviceNames("gpu"), deviceNames("igpu")];
  const byDefault = gpus.length > 0 ? gpus : integrated;
  const chosen =
    named === undefined ? byDefault : named.filter((name) => [...gpus, ...integrated].includes(name));
  return chosen.every((name) => byMemory[name] !== undefined) ? chosen : [];
}

/** How many layers each device computes. */
function layersIn({ layerDevices }: NativeMeasure): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const device of layerDevices) {
    const name = device === "" ? hostMemory : device;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** Whether the model has experts that no option has placed. */
async function movesExperts(file: string, options: CheckedLoadOptions): Promise<boolean> {
  if (options.cpuMoeLayers !== undefined || options.overrideTensor !== undefined) return false;
  return (await peekFile(file)).experts > 0;
}

/** The checked options, and a function that measures the model's file with these or other options. Throws `invalid_request`. */
export async function prepareMeasure(
  modelPath: string,
  options: LoadOptions,
  signal: AbortSignal | undefined,
): Promise<{ checked: CheckedLoadOptions; file: string; measure: Measure }> {
  const { signal: _, onProgress: __, ...rest } = options;
  const checked = await withDraftFile(checkLoadOptions(rest));
  const file = path.resolve(modelPath);
  const projector = await nativeProjector(checked, await threadCount(checked));
  const measure: Measure = async (each, size) => {
    signal?.throwIfAborted();
    return await measureWithDraft(file, each, size, { projector, signal });
  };
  return { checked, file, measure };
}

/** The model and its draft model, if there is one. */
async function measureWithDraft(
  file: string,
  options: CheckedLoadOptions,
  size: ContextSize,
  { projector, signal }: Pick<NativeLoadOptions, "projector"> & Pick<LoadOptions, "signal">,
): Promise<NativeMeasure> {
  using lease = options.rpc === undefined ? undefined : await leaseWorkers(options.rpc, signal);
  const workers = lease?.workers.map(({ native }) => native) ?? [];
  const context = await contextOptions(options, size);
  const main = { ...weightsOptions(file, options), projector, adapters: [], workers };
  const draft = nativeDraftOptions(options);
  const measured = await callAddon((addon) => addon.measureModel(main, context, draft));
  return {
    ...measured,
    memories: withAdapters(measured.memories, await checkAdapters(file, options.adapters)),
    contextLengthTrain: longestContextLength(measured.contextLengthTrain, options),
  };
}

function nativeDraftOptions(options: CheckedLoadOptions): NativeDraftOptions | null {
  const { draftModel, draftTokens = 0 } = options;
  if (draftModel === undefined) return null;
  const weights = draftWeightsOptions(draftModel, options);
  return { model: { ...weights, projector: null, adapters: [], workers: [] }, draftTokens };
}

/** Each tensor of an adapter lies beside the one that it changes, so adapters are where the weights are. */
function withAdapters(
  memories: NativeMeasure["memories"],
  adapters: readonly CheckedAdapter[],
): NativeMeasure["memories"] {
  const bytes = adapters.reduce((sum, adapter) => sum + adapter.bytes, 0);
  const all = memories.reduce((sum, { weightsBytes }) => sum + weightsBytes, 0);
  return memories.map((memory) => ({
    ...memory,
    weightsBytes: memory.weightsBytes + Math.ceil((bytes * memory.weightsBytes) / Math.max(all, 1)),
  }));
}

export function toFootprint({ memories }: NativeMeasure): Footprint {
  const sum = (of: (memory: NativeMeasure["memories"][number]) => number): number =>
    memories.reduce((total, memory) => total + of(memory), 0);
  return {
    weightsBytes: sum(({ weightsBytes }) => weightsBytes),
    contextBytes: sum(({ contextBytes }) => contextBytes),
    computeBytes: sum(({ computeBytes }) => computeBytes),
    byMemory: toMemoryBytes(
      memories.map(({ device, weightsBytes, contextBytes, computeBytes }) => ({
        device,
        bytes: weightsBytes + contextBytes + computeBytes,
      })),
    ),
  };
}

/** The error for a model that does not fit, with options that would. */
function refusal(
  file: string,
  measured: NativeMeasure,
  { contextLength, budget, ways }: { contextLength: number; budget: MemoryBudget; ways: readonly string[] },
): EngineError {
  const { weightsBytes, contextBytes, computeBytes, byMemory } = toFootprint(measured);
  const neededBytes = sumBytes(byMemory);
  const availableBytes = Math.min(budget.totalBytes ?? Infinity, sumBytes(budget.byMemory));
  const weightsBytesMax = availableBytes - contextBytes - computeBytes;
  const smaller =
    weightsBytesMax > 0 ? [`a quantization with weights of at most ${formatBytes(weightsBytesMax)}`] : [];
  const allWays = [...ways, ...smaller];
  const advice = allWays.length === 0 ? "Choose a smaller model." : `What would fit: ${allWays.join("; ")}.`;
  const message =
    `${path.basename(file)} needs ${formatBytes(neededBytes)} of memory (weights ${formatBytes(weightsBytes)}, ` +
    `a context of ${contextLength} tokens ${formatBytes(contextBytes)}, computing ${formatBytes(computeBytes)}), ` +
    `and may take ${formatBytes(availableBytes)}. ${advice}`;
  const details = { neededBytes, availableBytes, weightsBytes, contextBytes, computeBytes, contextLength };
  return new EngineError("out_of_memory", message, { details });
}

/** The shortest context that an error suggests. */
const contextLengthNamedMin = 512;

async function waysToFit(
  measure: Measure,
  options: CheckedLoadOptions,
  { contextLength, budget }: { contextLength: number; budget: MemoryBudget },
): Promise<string[]> {
  const isEnough = async (other: Partial<CheckedLoadOptions>, length: number): Promise<boolean> => {
    const size = leastSize(length, options);
    try {
      const measured = await measure({ ...options, ...other }, size);
      return fitsInto(toFootprint(measured).byMemory, budget);
    } catch (error) {
      // This model does not support such a KV cache.
      if (EngineError.is(error) && ["invalid_request", "engine_failed"].includes(error.code)) return false;
      throw error;
    }
  };
  const ways: string[] = [];
  const length = await findFirst(shorterThan(contextLength), (each) => isEnough({}, each));
  if (length !== undefined) ways.push(`a context of ${length} tokens`);
  const kvBits = await findFirst(
    smallerKvBits.filter((bits) => bits < (options.kvBits ?? 16)),
    (bits) => isEnough(kvInBits(bits), contextLength),
  );
  if (kvBits !== undefined) ways.push(`a KV cache of ${kvBits} bits (kv-bits ${kvBits})`);
  return ways;
}

/** The same bits for keys and values, whatever was requested. */
function kvInBits(kvBits: KvBits): RequestedKvTypes {
  return { kvBits, kvBitsK: undefined, kvBitsV: undefined, kvTypeK: undefined, kvTypeV: undefined };
}

async function findFirst<T>(
  candidates: readonly T[],
  isEnough: (candidate: T) => Promise<boolean>,
): Promise<T | undefined> {
  for (const candidate of candidates) {
    if (await isEnough(candidate)) return candidate;
  }
  return undefined;
}

/** Half of the length, a quarter and so on. */
function shorterThan(contextLength: number): number[] {
  const half = Math.floor(contextLength / 2);
  return half < contextLengthNamedMin ? [] : [half, ...shorterThan(half)];
}
