// What a model would take of the memory with certain settings, and how long its context could be at most: told before anything
// is loaded. Used by those who show models to people.
import { contextLengthDefault, contextSizes } from "./context-size.ts";
import { EngineError } from "./errors.ts";
import { fitModel, footprintOf, measuring, type Footprint, type Measure } from "./fit.ts";
import type { KvBits } from "./kv-cache.ts";
import { peekFile } from "./library/model-facts.ts";
import type { CheckedLoadOptions, LoadOptions } from "./load.ts";
import { fitsInto, totalOf, type MemoryBudget } from "./memory.ts";

export interface MemoryForecast {
  /** Tokens of one request: as asked, else as usual, or what there is room for where that is less. */
  contextLength: number;
  /** Most tokens of one request that there would be room for, up to what the model was trained for; 0 for none. */
  contextLengthMax: number;
  /** What a token takes of the KV cache, in bytes. 0 where that is not known. */
  kvBytesPerToken: number;
  footprint: Footprint;
  /** There is room for less than usual: a shorter context, fewer tokens in all, or fewer layers on the GPU. */
  isReduced: boolean;
  /** Why `load()` would be refused the memory, and what would fit. Undefined where it would not. */
  refusal: EngineError | undefined;
}

/** Sizes of caches are rounded up to so many cells. */
const cellsStep = 256;
/** Measurements for the longest context: each but the first two halves what is not known. */
const triesMax = 6;

/**
 * What `load()` would make of a model's file within the budget (absent: without a bound). Reads the file's header, not its weights.
 * That it does not fit is an answer, too. Throws what `fitModel()` throws beside that.
 */
export async function forecastMemory(
  modelPath: string,
  options: LoadOptions,
  {
    budget = { byMemory: {} },
    signal,
  }: { budget?: MemoryBudget | undefined; signal?: AbortSignal | undefined } = {},
): Promise<MemoryForecast> {
  const { checked, file, measure } = await measuring(modelPath, options, signal);
  const { contextLengthTrain } = await measure(checked, sizeOf(contextLengthDefault));
  const kvBytesPerToken = await bytesPerToken(measure, { checked, contextLengthTrain, file });
  const known = { measure, budget, kvBytesPerToken };
  try {
    const { options: fitted, isReduced, footprint } = await fitModel(modelPath, options, { budget, signal });
    const { contextLength, gpuLayers } = fitted;
    const bounds = { low: contextLength, high: contextLengthTrain };
    const contextLengthMax = await longestContext({
      ...known,
      ...bounds,
      checked: { ...checked, gpuLayers },
    });
    return { contextLength, contextLengthMax, kvBytesPerToken, footprint, isReduced, refusal: undefined };
  } catch (error) {
    if (!EngineError.is(error) || error.code !== "out_of_memory") throw error;
    const sizes = contextSizes(checked, contextLengthTrain);
    const least = sizes.at(-1) ?? sizes[0];
    const footprint = footprintOf(await measure(checked, least));
    const { contextLength } = least;
    const contextLengthMax = await longestContext({ ...known, low: 0, high: contextLength, checked });
    return { contextLength, contextLengthMax, kvBytesPerToken, footprint, isReduced: true, refusal: error };
  }
}

/** A context that one request can fill. */
function sizeOf(contextLength: number) {
  return { contextLength, cells: contextLength };
}

/** The difference of two sizes: what does not grow with the context, such as recurrent layers' states, does not count. */
async function bytesPerToken(
  measure: Measure,
  {
    checked,
    contextLengthTrain,
    file,
  }: { checked: CheckedLoadOptions; contextLengthTrain: number; file: string },
): Promise<number> {
  const half = Math.floor(Math.min(contextLengthTrain, contextLengthDefault) / 2 / cellsStep) * cellsStep;
  if (half === 0) return await bytesByHeader(file, checked);
  const [more, less] = [await measure(checked, sizeOf(2 * half)), await measure(checked, sizeOf(half))];
  return Math.round((footprintOf(more).contextBytes - footprintOf(less).contextBytes) / half);
}

/** Bits of a value with its share of the scales. */
const bitsInAll: Record<KvBits, number> = { 16: 16, 8: 8.5, 4: 4.5, 3: 3.5 };

/** For contexts that are shorter than the steps in which caches grow. */
async function bytesByHeader(
  file: string,
  { kvBits = 16, kvBitsK = kvBits, kvBitsV = kvBits }: CheckedLoadOptions,
): Promise<number> {
  const { cacheBytesPerToken = 0 } = await peekFile(file);
  return Math.round((cacheBytesPerToken * (bitsInAll[kvBitsK] + bitsInAll[kvBitsV])) / 2 / 16);
}

/** The longest context between `low`, with which it fits, and `high`; nearly, and never too long. */
async function longestContext({
  measure,
  checked,
  budget,
  kvBytesPerToken,
  low,
  high,
}: {
  measure: Measure;
  checked: CheckedLoadOptions;
  budget: MemoryBudget;
  kvBytesPerToken: number;
  low: number;
  high: number;
}): Promise<number> {
  if (high <= low) return low;
  const takes = async (length: number) => footprintOf(await measure(checked, sizeOf(length))).byMemory;
  const most = await takes(high);
  if (fitsInto(most, budget)) return high;
  const room = Math.min(budget.totalBytes ?? Infinity, totalOf(budget.byMemory));
  let [fits, tooLong] = [low, high];
  // In one memory it grows evenly, and what is too much for it tells how much too long the context is.
  let next = high - Math.ceil((totalOf(most) - room) / kvBytesPerToken);
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
