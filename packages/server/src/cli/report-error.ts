// Turns whatever a command threw into one sentence on stderr and an exit code. Used by main.ts only.
import { CliError, exitCodes } from "./cli-error.ts";
import type { TextOutput } from "./context.ts";

/** Writes the sentence (with INGLE_DEBUG=1 the stack as well) and returns the exit code. */
export async function reportError(
  error: unknown,
  { program, stderr, env }: { program: string; stderr: TextOutput; env: NodeJS.ProcessEnv },
): Promise<number> {
  const { sentence, exitCode } = await describe(error);
  stderr.write(`${program}: ${sentence}\n`);
  if (env["INGLE_DEBUG"] === "1" && error instanceof Error) stderr.write(`${stackOf(error)}\n`);
  return exitCode;
}

async function describe(error: unknown): Promise<{ sentence: string; exitCode: number }> {
  if (error instanceof CliError) return { sentence: error.message, exitCode: error.exitCode };
  // Loaded only here: an error has the time that a start has not.
  const [{ EngineError }, { ConfigError }] = await Promise.all([
    import("@ingle/engine"),
    import("../config.ts"),
  ]);
  if (error instanceof ConfigError) return { sentence: error.message, exitCode: exitCodes.usage };
  if (EngineError.is(error)) {
    const param = error.code === "invalid_request" ? error.details["param"] : undefined;
    if (typeof param !== "string" || param === "")
      return { sentence: error.message, exitCode: exitCodes.failure };
    return { sentence: error.message.replace(`${param}:`, `${flagOf(param)}:`), exitCode: exitCodes.usage };
  }
  const message = error instanceof Error ? error.message : String(error);
  // The system's own errors, such as EADDRINUSE, say what is wrong; anything else is a mistake of ours.
  if (error instanceof Error && "syscall" in error) return { sentence: message, exitCode: exitCodes.failure };
  return {
    sentence: `something went wrong that should not have: ${message}. INGLE_DEBUG=1 shows where.`,
    exitCode: exitCodes.failure,
  };
}

/** The flag behind one of the engine's parameters: `topP` is `--top-p`. */
function flagOf(param: string): string {
  if (param === "contextLength") return "--ctx";
  return `--${param.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function stackOf(error: Error): string {
  const stack = error.stack ?? error.message;
  return error.cause instanceof Error ? `${stack}\nCaused by: ${stackOf(error.cause)}` : stack;
}
