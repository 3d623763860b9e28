// The command line's door: from arguments to an exit code. bin/start.js calls runFromShell(); tests call main().
import { CommanderError } from "commander";
import { exitCodes } from "./cli-error.ts";
import type { CommandContext } from "./context.ts";
import { ingleProgram, lmServerProgram } from "./program.ts";
import { Shutdown } from "./shutdown.ts";

const programs = { ingle: ingleProgram, "ingle_lm.server": lmServerProgram } as const;

/** The two programs of this package, by their names in a shell. */
export type ProgramName = keyof typeof programs;

/** Runs one command and returns its exit code: everything that goes wrong is a sentence on stderr by then. */
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
    // Help and version end commander as its mistakes do, but with 0; it has written its text by now.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    const { reportError } = await import("./report-error.ts");
    return reportError(error, { program: name, stderr: context.stderr, env: context.env });
  }
}

/**
 * Runs a command on this process's own arguments, streams and signals, and sets its exit code. Tests hand in another
 * engine.
 */
export async function runFromShell(
  name: ProgramName,
  { engine = () => import("@ingle/engine") }: Partial<Pick<CommandContext, "engine">> = {},
): Promise<void> {
  const { stdin, stdout, stderr, env } = process;
  const now = (): number => performance.now();
  stdout.on("error", (error) => leave(error, name));
  stderr.on("error", () => {}); // notes and logs that nobody reads any more: the work goes on
  using shutdown = new Shutdown({ source: process, exit: (code) => process.exit(code), now });
  const parts: Pick<CommandContext, "server" | "app" | "browser"> = {
    server: () => import("../serve.ts"),
    app: () => import("../desktop-app.ts"),
    browser: () => import("./app/browser.ts"),
  };
  process.exitCode = await main(name, process.argv.slice(2), {
    stdin,
    stdout,
    stderr,
    env,
    now,
    shutdown,
    engine,
    ...parts,
  });
}

/** The answer cannot be written: after `ingle run … | head -1` the reader has what it wanted, a full disk is told. */
function leave(error: Error, name: ProgramName): never {
  if ("code" in error && error.code === "EPIPE") process.exit(exitCodes.ok);
  process.stderr.write(`${name}: The output cannot be written: ${error.message}.\n`);
  process.exit(exitCodes.failure);
}
