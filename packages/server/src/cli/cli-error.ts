// The command line's own errors and exit codes: a sentence for the person and a number for the shell.
// Thrown by every command, reported in one place (report-error.ts).

/** What the shell sees. Interrupted commands end with 128 plus the signal's number instead (see signals.ts). */
export const exitCodes = { ok: 0, failure: 1, usage: 2 } as const;

/** The message is everything a person needs: what is wrong and what to do next. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: number;

  constructor(message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.exitCode = options.exitCode ?? exitCodes.failure;
  }
}

/** The command was written in a way that cannot be understood. */
export function usageError(message: string, cause?: unknown): CliError {
  return new CliError(message, { exitCode: exitCodes.usage, cause });
}
