// How much context an engine gets when nothing is said. load.ts sets it up so; the library says by it what memory a model
// will need.

/** Context used when nothing is said and the model was trained for more: a long chat, in sane memory. */
export const contextLengthDefault = 8192;
/** Cells shared by all sequences when nothing is said: every sequence can be full up to this many in all. */
export const cellsDefaultMax = 32_768;
/** Requests computed at the same time. */
export const parallelDefault = 8;

/** Tokens that all requests together may hold in a model that was trained for so many. */
export function cellsDefault(contextLengthTrain: number): number {
  return Math.min(Math.min(contextLengthTrain, contextLengthDefault) * parallelDefault, cellsDefaultMax);
}
