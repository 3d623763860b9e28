// Forecasts a model's memory and its longest possible context with given settings, before anything is loaded.
import { contextLengthDefault, contextSizes, leastSize } from "../base/context-size.ts";
import { EngineError } from "../base/errors.ts";
import {
  fitModel,
  toFootprint,
  prepareMeasure,
  type FitOptions,
  type Footprint,
  type Measure,
} from "./fit.ts";
import type { KvBits } from "./kv-cache.ts";
import { peekFile } from "../library/model-facts.ts";
import type { CheckedLoadOptions, LoadOptions } from "./load-options.ts";
import { fitsInto, type MemoryBudget } from "../machine/memory.ts";
import { sumBytes, type MemoryBytes } from "../base/memory-bytes.ts";

export interface MemoryForecast {
  /** Maximum number of tokens per request: as given, else the default, or less if the memory only allows less. */
  contextLength: number;
  /** The longest context that would fit, at most what the model was trained for; 0 if none fits. */
  contextLengthMax: number;
  /** Bytes of one token in the KV cache; 0 if unknown. */
  kvBytesPerToken: number;
  footprint: Footprint;
  /** Whether the memory only allows a shorter context, fewer KV cells or fewer GPU layers than the default. */
  isReduced: boolean;
  /** The `out_of_memory` error with which `fitModel()` would fail; undefined if the model fits. */
  refusal: EngineError | undefined;
}

/** llama.cpp rounds the size of a KV cache up to a multiple of this. */
const cellsStep = 256;
/** Maximum number of measurements for the longest context: all but the first two halve the remaining range. */
const triesMax = 6;

/**
 * Forecasts what `load()` would need for a model's file within the budget (default: unlimited). Reads the file's header, not its
 * weights. A model that does not fit is a result (`refusal`), not an error; throws whatever else `fitModel()` throws.
 */
export async function forecastMemory(
  modelPath: string,
  options: LoadOptions,
  {
    budget = { byMemory: {} },
    left,
    signal,
  }: Omit<FitOptions, "budget"> & { budget?: MemoryBudget | undefined } = {},
): Promise<MemoryForecast> {
  const { checked, file, measure } = await prepareMeasure(modelPath, options, signal);
  const { contextLengthTrain } = await measure(checked, leastSize(contextLengthDefault, checked));
  const kvBytesPerToken = await bytesPerToken(measure, file, checked, contextLengthTrain);
  const known = { budget, kvBytesPerToken };
  const usageByLength = (place: Pick<LoadOptions, "gpuLayers" | "tensorSplit">) => async (length: number) =>
    toFootprint(await measure({ ...checked, ...place }, leastSize(length, checked))).byMemory;
  try {
    const {
      options: fitted,
      isReduced,
      footprint,
    } = await fitModel(modelPath, options, { budget, left, signal });
    const { contextLength, gpuLayers, tensorSplit } = fitted;
    const search = { ...known, low: contextLength, high: contextLengthTrain };
    const contextLengthMax = await longestContext(usageByLength({ gpuLayers, tensorSplit }), search);
    return { contextLength, contextLengthMax, kvBytesPerToken, footprint, isReduced, refusal: undefined };
  } catch (error) {
    if (!EngineError.is(error) || error.code !== "out_of_memory") throw error;
    const sizes = contextSizes(checked, contextLengthTrain);
    const least = sizes.at(-1) ?? sizes[0];
    const footprint = toFootprint(await measure(checked, least));
    const { contextLength } = least;
    const search = { ...known, low: 0, high: contextLength };
    const contextLengthMax = await longestContext(usageByLength({}), search);
    return { contextLength, contextLengthMax, kvBytesPerToken, footprint, isReduced: true, refusal: error };
  }
}

/** Compares two sizes, so that memory independent of the context, such as recurrent state, does not count. */
async function bytesPerToken(
  measure: Measure,
  file: string,
  checked: CheckedLoadOptions,
  contextLengthTrain: number,
): Promise<number> {
  const half = Math.floor(Math.min(contextLengthTrain, contextLengthDefault) / 2 / cellsStep) * cellsStep;
  if (half === 0) return await bytesByHeader(file, checked);
  const [most, fewest] = [leastSize(2 * half, checked), leastSize(half, checked)];
  const [more, less] = [await measure(checked, most), await measure(checked, fewest)];
  const bytes = toFootprint(more).contextBytes - toFootprint(less).contextBytes;
  return Math.round(bytes / (most.cells - fewest.cells));
}

/** Bits of a value including its share of the scales. */
const bitsInAll: Record<KvBits, number> = { 16: 16, 8: 8.5, 4: 4.5, 3: 3.5 };

/** Allows contexts shorter than `cellsStep`. */
async function bytesByHeader(
  file: string,
  { kvBits = 16, kvBitsK = kvBits, kvBitsV = kvBits }: CheckedLoadOptions,
): Promise<number> {
  const { cacheBytesPerToken = 0 } = await peekFile(file);
  return Math.round((cacheBytesPerToken * (bitsInAll[kvBitsK] + bitsInAll[kvBitsV])) / 2 / 16);
}

interface ContextSearch {
  budget: MemoryBudget;
  kvBytesPerToken: number;
  low: number;
  high: number;
}

/** Nearly the longest context between `low`, which fits, and `high`; never one that does not fit. */
async function longestContext(
  takes: (contextLength: number) => Promise<MemoryBytes>,
  { budget, kvBytesPerToken, low, high }: ContextSearch,
): Promise<number> {
  if (high <= low) return low;
  const most = await takes(high);
  if (fitsInto(most, budget)) return high;
  const available = Math.min(budget.totalBytes ?? Infinity, sumBytes(budget.byMemory));
  let [fits, tooLong] = [low, high];
  // In a single memory, the KV cache grows linearly, so the excess shows how much too long the context is.
  let next = high - Math.ceil((sumBytes(most) - available) / kvBytesPerToken);
  for (let tries = 1; tries < triesMax && tooLong - fits > cellsStep; tries += 1) {
    const isBetween = next > fits && next < tooLong;
    const length = roundDown(isBetween ? next : (fits + tooLong) / 2);
    if (length <= fits) break;
    if (!fitsInto(await takes(length), budget)) tooLong = length;
    else if (isBetween) return length;
    else fits = length;
    next = 0;
  }
  return fits;
}

function roundDown(length: number): number {
  return length < cellsStep ? Math.floor(length) : Math.floor(length / cellsStep) * cellsStep;
}
