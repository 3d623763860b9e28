// The default size of a context, and smaller sizes that need less memory.
import { invalidRequest } from "./errors.ts";

/** The default number of requests computed at the same time. */
export const parallelDefault = 8;
/** The default context length of models trained for at least this much: a long chat in moderate memory. */
export const contextLengthDefault = 8192;
/** Maximum number of KV cells by default. Up to this number, there are enough for every sequence to fill its context. */
const cellsDefaultMax = 32_768;
/**
 * If every request has a whole context of cells, one more context is added for this many requests, for ended texts that stay
 * cached.
 */
const requestsForEachKept = 4;
/** The shortest context that is chosen to fit the memory; shorter ones must be requested. */
const contextLengthFitMin = 2048;

export interface ContextSize {
  /** Maximum number of tokens per request. */
  contextLength: number;
  /** KV cells: the maximum number of tokens of all requests together. */
  cells: number;
}

/** The requested size; absent values get defaults. */
export interface RequestedSize {
  contextLength?: number | undefined;
  cells?: number | undefined;
  parallel: number;
  /** False: every request has cells of its own, so that only their length can shrink. */
  kvUnified?: boolean | undefined;
  /** Whether the default is a whole context of cells for every request, as it is with cells of their own. */
  hasWholeContexts?: boolean | undefined;
}

/** The size of a context for a model that was trained for `contextLengthTrain` tokens. */
export function contextSize(requested: RequestedSize, contextLengthTrain: number): ContextSize {
  const contextLength = requested.contextLength ?? Math.min(contextLengthTrain, contextLengthDefault);
  const { kvUnified, hasWholeContexts, parallel } = requested;
  const byDefault =
    kvUnified === false || hasWholeContexts === true
      ? wholeContexts(contextLength, parallel)
      : Math.min(contextLength * parallel, cellsDefaultMax);
  const cells = requested.cells ?? byDefault;
  return { contextLength, cells: Math.max(contextLength, cells) };
}

/**
 * The minimum number of cells with which a request of this length can run: for one request, or for all if each has cells of its
 * own.
 */
export function leastSize(contextLength: number, { kvUnified, parallel }: RequestedSize): ContextSize {
  return {
    contextLength,
    cells: kvUnified === false ? wholeContexts(contextLength, parallel) : contextLength,
  };
}

function wholeContexts(contextLength: number, parallel: number): number {
  return contextLength * (parallel + Math.ceil(parallel / requestsForEachKept));
}

/** That size and smaller ones, largest first: fewer cells, then a shorter context. Requested values stay. */
export function contextSizes(
  requested: RequestedSize,
  contextLengthTrain: number,
): [ContextSize, ...ContextSize[]] {
  const sizes: [ContextSize, ...ContextSize[]] = [contextSize(requested, contextLengthTrain)];
  let [{ contextLength, cells }] = sizes;
  const { cells: least } = leastSize(contextLength, requested);
  while (requested.cells === undefined && cells > least) {
    cells = Math.max(least, Math.floor(cells / 2));
    sizes.push({ contextLength, cells });
  }
  while (requested.contextLength === undefined && contextLength / 2 >= contextLengthFitMin) {
    contextLength = Math.floor(contextLength / 2);
    const { cells: shorter } = leastSize(contextLength, requested);
    sizes.push({ contextLength, cells: requested.cells ?? shorter });
  }
  return sizes;
}

/** Longer contexts than the default for a model that was trained for them, shortest first; none if the length was requested. */
export function largerSizes(requested: RequestedSize, contextLengthTrain: number): ContextSize[] {
  if (requested.contextLength !== undefined) return [];
  const { contextLength, cells } = contextSize(requested, contextLengthTrain);
  const { cells: given = Infinity, kvUnified, parallel } = requested;
  // The engine needs one context more than the number of requests that run at the same time.
  const longest = Math.min(
    contextLengthTrain,
    kvUnified === false ? Math.floor(given / (parallel + 1)) : given,
  );
  const sizes: ContextSize[] = [];
  for (let length = contextLength; length < longest;) {
    length = Math.min(2 * length, longest);
    const { cells: longer } = leastSize(length, requested);
    sizes.push({ contextLength: length, cells: Math.max(cells, requested.cells ?? longer) });
  }
  return sizes;
}

/** Throws `invalid_request` if the requested context is longer than the model was trained for. */
export function checkContextLength({ contextLength }: RequestedSize, contextLengthTrain: number): void {
  if (contextLength === undefined || contextLength <= contextLengthTrain) return;
  const reason = `${contextLength} is more than the ${contextLengthTrain} tokens this model was trained for.`;
  throw invalidRequest("contextLength", reason, undefined, { contextLength, contextLengthTrain });
}
