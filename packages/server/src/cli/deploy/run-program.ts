// Runs another program to its end, and passes on its output line by line.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** How long a program may take to clean up after a request to stop. */
const cleanupMs = 10_000;

export interface ProgramOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Stops the program; the reason is thrown once the program has ended. */
  signal: AbortSignal;
  /** Called with each line of stdout and stderr. */
  onLine: (line: string) => void;
}

/** `isMissing`: the program was not found. `code` is its exit code, or the name of the signal that ended it. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env, signal, onLine }: ProgramOptions,
): Promise<{ code: number | string; isMissing: boolean }> {
  signal.throwIfAborted();
  // In its own process group, so that Ctrl-C in a terminal reaches it only once, through this process.
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: process.platform !== "win32",
  });
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on("line", onLine);
  let killing: NodeJS.Timeout | undefined;
  const stop = (): void => {
    child.kill("SIGINT");
    killing = setTimeout(() => child.kill("SIGKILL"), cleanupMs);
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    const [code, name]: (number | string | null)[] = await once(child, "close");
    signal.throwIfAborted();
    return { code: code ?? name ?? "nothing", isMissing: false };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT")
      return { code: "nothing", isMissing: true };
    throw error;
  } finally {
    clearTimeout(killing);
    signal.removeEventListener("abort", stop);
  }
}
