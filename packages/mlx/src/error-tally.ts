// How far stored weights are from those of the source, measured while they are written. Used by ggml-blocks.ts; storage.ts
// decides by it, and the command line prints it.

export interface ErrorTally {
  /** Weights that were compared. */
  weights: number;
  /** Sum of the squared errors. */
  squares: number;
  /** Sum of the squares of the source's steps: of each weight's group, what two codes beside each other differ by. */
  stepSquares: number;
  /** The largest error of a single weight. */
  largest: number;
}

export function noErrors(): ErrorTally {
  return { weights: 0, squares: 0, stepSquares: 0, largest: 0 };
}

export function addTally(total: ErrorTally, part: ErrorTally): void {
  total.weights += part.weights;
  total.squares += part.squares;
  total.stepSquares += part.stepSquares;
  total.largest = Math.max(total.largest, part.largest);
}

/** The root mean square of the errors, in steps of the source; 0 when nothing was lost. */
export function errorInSteps({ squares, stepSquares }: ErrorTally): number {
  return squares === 0 ? 0 : Math.sqrt(squares / stepSquares);
}
