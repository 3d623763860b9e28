// Starts a program in the foreground, and waits for its end: it has the terminal and decides what signals do.
import { spawn, type ChildProcess } from "node:child_process";
import os from "node:os";
import { CliError } from "../errors.ts";
import type { CommandContext } from "../context.ts";
import { spawnCommand } from "./windows-command.ts";

interface ProgramStart {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** Shells report the signal that ended a program as this plus its number. */
const signalBase = 128;

/** Returns the program's exit code, or 128 plus the number of the signal that ended it. Throws CliError if it cannot be started. */
export async function startProgram(
  { program, args, env }: ProgramStart,
  { shutdown, stdin }: Pick<CommandContext, "shutdown" | "stdin">,
): Promise<number> {
  shutdown.signal.throwIfAborted();
  const {
    file,
    args: words,
    isVerbatim,
  } = spawnCommand(program, args, {
    platform: process.platform,
    shell: env["ComSpec"],
  });
  const child = spawn(file, words, { env, stdio: "inherit", windowsVerbatimArguments: isVerbatim });
  using _diverted = shutdown.divert((signal) => {
    // A terminal sends Ctrl-C to the program itself: a second one would mean something else to it.
    if (signal === "SIGINT" && stdin.isTTY === true) return;
    child.kill(signal);
  });
  return await ended(child, program);
}

async function ended(child: ChildProcess, program: string): Promise<number> {
  return await new Promise((resolve, reject) => {
    child.once("error", (cause) => {
      reject(new CliError(`${program} cannot be started: ${cause.message}.`, { cause }));
    });
    child.once("exit", (code, signal) => {
      resolve(code ?? signalBase + (signal === null ? 0 : os.constants.signals[signal]));
    });
  });
}
