// The entry point of the command line: takes arguments and returns an exit code.
import { CommanderError } from "commander";
import { usualLogFormat } from "../logger.ts";
import type { CommandContext } from "./context.ts";
import { exitCodes, reportError } from "./errors.ts";
import { ingleProgram, lmServerProgram } from "./program.ts";
import { Shutdown } from "./shutdown.ts";

const programs = { ingle: ingleProgram, "ingle_lm.server": lmServerProgram } as const;

/** The two programs of this package, by their names in a shell. */
type ProgramName = keyof typeof programs;

/** Runs one command and returns its exit code. Never rejects: errors are reported on stderr. */
export async function main(
  name: ProgramName,
  args: readonly string[],
  context: CommandContext,
): Promise<number> {
  let exitCode: number = exitCodes.ok;
  const program = programs[name](context, (code) => (exitCode = code));
  try {
    await program.parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (error) {
    // Commander also throws after help and version, with 0; it has written its text by then.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    return await reportError(error, { program: name, stderr: context.stderr, env: context.env });
  }
}

/** Runs a command with this process's arguments, streams and signals, and sets its exit code. */
export async function runFromShell(
  name: ProgramName,
  { engine = () => import("@ingle/engine") }: Partial<Pick<CommandContext, "engine">> = {},
): Promise<void> {
  const { stdout, stderr } = process;
  stdout.on("error", (error) => endOnWriteError(error, name));
  stderr.on("error", () => {}); // nobody reads notes and logs any more; the work continues
  const now = (): number => performance.now();
  using shutdown = new Shutdown({ source: process, exit: (code) => process.exit(code), now });
  process.exitCode = await main(name, process.argv.slice(2), { ...processContext(shutdown), engine });
}

/** The context of a command, from this process. */
export function processContext(shutdown: Shutdown): CommandContext {
  const { stdin, stdout, stderr, env } = process;
  return {
    stdin,
    stdout,
    stderr,
    logFormat: usualLogFormat(),
    env,
    now: () => performance.now(),
    shutdown,
    engine: () => import("@ingle/engine"),
    server: () => import("../serve.ts"),
    app: () => import("../desktop-app.ts"),
    browser: () => import("./app/browser.ts"),
  };
}

/** A reader such as `head -1` that closes early is not an error; a full disk is one. */
function endOnWriteError(error: Error, name: ProgramName): never {
  if ("code" in error && error.code === "EPIPE") process.exit(exitCodes.ok);
  process.stderr.write(`${name}: Cannot write the output: ${error.message}.\n`);
  process.exit(exitCodes.failure);
}
