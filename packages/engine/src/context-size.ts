// How long a context is where nobody said it, and the shorter ones that take less memory. Used by load.ts, fit.ts and
// the library, which tells beforehand what a model will need.
import { EngineError } from "./errors.ts";

/** Requests computed at the same time when nothing is said. */
export const parallelDefault = 8;
/** Context used when nothing is said and the model was trained for more: a long chat, in sane memory. */
export const contextLengthDefault = 8192;
/** Cells shared by all sequences when nothing is said: every sequence can be full up to this many in all. */
const cellsDefaultMax = 32_768;
/** A context that is shortened to fit the memory stays at least this long: shorter ones are only taken when asked for. */
const contextLengthFitMin = 2048;

export interface ContextSize {
  /** Most tokens of one request. */
  contextLength: number;
  /** Tokens that all requests together may hold. */
  cells: number;
}

/** What was asked for; what is absent is chosen. */
export interface ContextWish {
  contextLength?: number | undefined;
  cells?: number | undefined;
  parallel: number;
}

/** The size of a context on a model that was trained for so many tokens. */
export function contextSize(wish: ContextWish, contextLengthTrain: number): ContextSize {
  const contextLength = wish.contextLength ?? Math.min(contextLengthTrain, contextLengthDefault);
  const cells = wish.cells ?? Math.min(contextLength * wish.parallel, cellsDefaultMax);
  return { contextLength, cells: Math.max(contextLength, cells) };
}

/** That size and smaller ones, the largest first: fewer cells, then a shorter context; what was asked for stays. */
export function contextSizes(wish: ContextWish, contextLengthTrain: number): [ContextSize, ...ContextSize[]] {
  const sizes: [ContextSize, ...ContextSize[]] = [contextSize(wish, contextLengthTrain)];
  let [{ contextLength, cells }] = sizes;
  while (wish.cells === undefined && cells > contextLength) {
    cells = Math.max(contextLength, Math.floor(cells / 2));
    sizes.push({ contextLength, cells });
  }
  while (wish.contextLength === undefined && contextLength / 2 >= contextLengthFitMin) {
    contextLength = Math.floor(contextLength / 2);
    sizes.push({ contextLength, cells: wish.cells ?? contextLength });
  }
  return sizes;
}

/** Throws `invalid_request` when more was asked for than the model was trained for. */
export function checkContextLength({ contextLength }: ContextWish, contextLengthTrain: number): void {
  if (contextLength === undefined || contextLength <= contextLengthTrain) return;
  throw new EngineError(
    "invalid_request",
    `contextLength: ${contextLength} is more than the ${contextLengthTrain} tokens this model was trained for.`,
    { details: { param: "contextLength", contextLength, contextLengthTrain } },
  );
}
