// The command line's errors and exit codes, and how an error becomes one sentence on stderr.
import { longFlag } from "../settings/setting.ts";

/** Exit codes. Interrupted commands end with 128 plus the signal's number instead (see shutdown.ts). */
export const exitCodes = { ok: 0, failure: 1, usage: 2 } as const;

/** An error whose message is all that the user sees: what is wrong and what to do. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: number;

  constructor(message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.exitCode = options.exitCode ?? exitCodes.failure;
  }
}

/** The command was called the wrong way. */
export function usageError(message: string, cause?: unknown): CliError {
  return new CliError(message, { exitCode: exitCodes.usage, cause });
}

/** Writes the error's sentence, with INGLE_DEBUG=1 also its stack, and returns the exit code. */
export async function reportError(
  error: unknown,
  {
    program,
    stderr,
    env,
  }: { program: string; stderr: { write(text: string): unknown }; env: NodeJS.ProcessEnv },
): Promise<number> {
  const { sentence, exitCode } = await describe(error);
  stderr.write(`${program}: ${sentence}\n`);
  if (env["INGLE_DEBUG"] === "1" && error instanceof Error) stderr.write(`${stackText(error)}\n`);
  return exitCode;
}

async function describe(error: unknown): Promise<{ sentence: string; exitCode: number }> {
  if (error instanceof CliError) return { sentence: error.message, exitCode: error.exitCode };
  // Loaded only here, so that commands start fast.
  const [{ EngineError }, { ConfigError }, { withNames }] = await Promise.all([
    import("@ingle/engine"),
    import("../config.ts"),
    import("../settings/own-settings.ts"),
  ]);
  if (error instanceof ConfigError) return { sentence: error.message, exitCode: exitCodes.usage };
  if (EngineError.is(error)) {
    const param = error.code === "invalid_request" ? error.details["param"] : undefined;
    if (typeof param !== "string" || param === "")
      return { sentence: error.message, exitCode: exitCodes.failure };
    const named = withNames(error.message, ({ setting }) => longFlag(setting));
    const isNamed = !named.startsWith(`${param}:`);
    const sentence = isNamed ? named : `${flagName(param)}${named.slice(param.length)}`;
    return { sentence, exitCode: exitCodes.usage };
  }
  const message = error instanceof Error ? error.message : String(error);
  // System errors, such as EADDRINUSE, are clear by themselves; anything else is a bug.
  if (error instanceof Error && "syscall" in error) return { sentence: message, exitCode: exitCodes.failure };
  return {
    sentence: `Unexpected error: ${message}. This is a bug; INGLE_DEBUG=1 shows where.`,
    exitCode: exitCodes.failure,
  };
}

/** The flag for an option of a generation: `topP` is `--top-p`. */
function flagName(param: string): string {
  if (param === "contextLength") return "--ctx";
  return `--${param.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function stackText(error: Error): string {
  const stack = error.stack ?? error.message;
  return error.cause instanceof Error ? `${stack}\nCaused by: ${stackText(error.cause)}` : stack;
}
