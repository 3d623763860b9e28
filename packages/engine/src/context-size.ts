// The default size of a context, and smaller sizes that need less memory.
import { invalidRequest } from "./errors.ts";

/** The default number of requests computed at the same time. */
export const parallelDefault = 8;
/** The default context length of models trained for at least this much: a long chat in moderate memory. */
export const contextLengthDefault = 8192;
/** The most KV cells by default. Up to this number, there are enough for every sequence to fill its context. */
const cellsDefaultMax = 32_768;
/** The shortest context that is chosen to fit the memory; shorter ones must be requested. */
const contextLengthFitMin = 2048;

export interface ContextSize {
  /** The most tokens of one request. */
  contextLength: number;
  /** KV cells: the most tokens of all requests together. */
  cells: number;
}

/** The requested size; absent values get defaults. */
export interface RequestedSize {
  contextLength?: number | undefined;
  cells?: number | undefined;
  parallel: number;
}

/** The size of a context for a model that was trained for `contextLengthTrain` tokens. */
export function contextSize(requested: RequestedSize, contextLengthTrain: number): ContextSize {
  const contextLength = requested.contextLength ?? Math.min(contextLengthTrain, contextLengthDefault);
  const cells = requested.cells ?? Math.min(contextLength * requested.parallel, cellsDefaultMax);
  return { contextLength, cells: Math.max(contextLength, cells) };
}

/** That size and smaller ones, largest first: fewer cells, then a shorter context. Requested values stay. */
export function contextSizes(
  requested: RequestedSize,
  contextLengthTrain: number,
): [ContextSize, ...ContextSize[]] {
  const sizes: [ContextSize, ...ContextSize[]] = [contextSize(requested, contextLengthTrain)];
  let [{ contextLength, cells }] = sizes;
  while (requested.cells === undefined && cells > contextLength) {
    cells = Math.max(contextLength, Math.floor(cells / 2));
    sizes.push({ contextLength, cells });
  }
  while (requested.contextLength === undefined && contextLength / 2 >= contextLengthFitMin) {
    contextLength = Math.floor(contextLength / 2);
    sizes.push({ contextLength, cells: requested.cells ?? contextLength });
  }
  return sizes;
}

/** Longer contexts than the default for a model that was trained for them, shortest first; none if the length was requested. */
export function largerSizes(requested: RequestedSize, contextLengthTrain: number): ContextSize[] {
  if (requested.contextLength !== undefined) return [];
  const { contextLength, cells } = contextSize(requested, contextLengthTrain);
  const longest = Math.min(contextLengthTrain, requested.cells ?? contextLengthTrain);
  const sizes: ContextSize[] = [];
  for (let length = contextLength; length < longest;) {
    length = Math.min(2 * length, longest);
    sizes.push({ contextLength: length, cells: Math.max(cells, length) });
  }
  return sizes;
}

/** Throws `invalid_request` if the requested context is longer than the model was trained for. */
export function checkContextLength({ contextLength }: RequestedSize, contextLengthTrain: number): void {
  if (contextLength === undefined || contextLength <= contextLengthTrain) return;
  const reason = `${contextLength} is more than the ${contextLengthTrain} tokens this model was trained for.`;
  throw invalidRequest("contextLength", reason, undefined, { contextLength, contextLengthTrain });
}
