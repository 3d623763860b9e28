// What can go wrong in a benchmark without being a mistake of this code. Thrown everywhere in bench; main.ts prints the
// message, and a round that fails with one is kept as a failed round in the report.

/** Its message is a sentence that says what to do. */
export class BenchError extends Error {
  override readonly name = "BenchError";
}

/** The sentence of any thrown value. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
