// Runs an agent's program with a limit, and ends all that it started.
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";

export type RunningProgram = ChildProcessByStdio<Writable, Readable, Readable>;

export interface Run {
  cwd: string;
  env: NodeJS.ProcessEnv;
  timeoutMs: number;
  /** Ends the program, which is no failure. */
  signal?: AbortSignal | undefined;
}

/** What is shown of a program that failed. */
const outputMax = 4_000;

/**
 * Resolves when the program has ended, with `talk` when that has: then the program is ended. Rejects with its last output if it cannot be
 * started, fails, or does not end within the limit.
 */
export async function runProgram(
  command: string,
  args: readonly string[],
  { cwd, env, timeoutMs, signal }: Run,
  talk?: (child: RunningProgram) => Promise<void>,
): Promise<void> {
  signal?.throwIfAborted();
  const child = spawn(command, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"], detached: true });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output = (output + text).slice(-outputMax)));
  const stop = (): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, "SIGKILL");
  };
  let hasTimedOut = false;
  const timer = setTimeout(() => {
    hasTimedOut = true;
    stop();
  }, timeoutMs);
  signal?.addEventListener("abort", stop);
  // What it left running may hold its streams open.
  const ended = new Promise<number | null>((resolve, reject) =>
    child.once("exit", resolve).once("error", reject),
  );
  try {
    const said = talk === undefined ? undefined : talk(child).finally(stop);
    if (said === undefined) child.stdin.end();
    const [talked, left] = await Promise.allSettled([said, ended]);
    if (signal?.aborted === true) return;
    if (hasTimedOut) throw new Error(`${command} has not ended within ${timeoutMs / 1000} s:\n${output}`);
    if (talked.status === "rejected") throw new Error(`${command}:\n${output}`, { cause: talked.reason });
    if (left.status === "rejected") throw left.reason;
    if (talk === undefined && left.value !== 0)
      throw new Error(`${command} ended with ${left.value}:\n${output}`);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

/** Ends what programs left running in another process group: their home tells whose they are. Only Linux shows it. */
export async function endLeftBehind(home: string): Promise<void> {
  if (process.platform !== "linux") return;
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    // Processes may end meanwhile, and other users' are not ours.
    const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
    if (environment.split("\0").includes(`HOME=${home}`)) endProcess(Number(pid));
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    const hasEnded = error instanceof Error && "code" in error && error.code === "ESRCH";
    if (!hasEnded) throw error;
  }
}
