// Errors of a benchmark's environment rather than of this code. main.ts prints the message; a round that fails with one is
// kept as a failed round in the report.

/** Its message is a sentence that says what to do. */
export class BenchError extends Error {
  override readonly name = "BenchError";
}

/** The message of any thrown value. */
export function errorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
