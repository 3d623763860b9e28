// The errors of stored weights against those of the source, added up while they are written.

export interface ErrorTally {
  /** Number of weights. */
  weights: number;
  /** Sum of the squared errors. */
  squares: number;
  /** Sum, over the weights, of the squared step of their group: the difference of two neighbouring codes. */
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

/** The root mean square of the errors, in steps of the source; 0 if nothing was lost. */
export function errorInSteps({ squares, stepSquares }: ErrorTally): number {
  return squares === 0 ? 0 : Math.sqrt(squares / stepSquares);
}
