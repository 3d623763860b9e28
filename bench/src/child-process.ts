// Programs that the benchmark starts: each in its own process group, with the end of its output kept for error messages,
// and killed when the benchmark ends.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { BenchError } from "./bench-error.ts";

/** Characters kept of each output stream: enough for a JSON report and the last error. */
const outputMax = 256 * 1024;
/** Lines of output in an error message. */
const tailLines = 15;
/** Grace period between asking a program to stop and killing it. */
const stopLimitMs = 10_000;

const live = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of live) signalGroup(child, "SIGKILL");
});

export interface ProgramOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  signal?: AbortSignal | undefined;
}

/** A program that runs until it is disposed or exits. */
export class RunningProgram implements AsyncDisposable {
  readonly name: string;
  readonly pid: number;
  /** The exit code; null when it was killed. */
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcess;
  readonly #output = { stdout: "", stderr: "" };
  #hasEnded = false;

  /** `child` must have been started with `detached: true`, so that it leads a process group. */
  constructor(name: string, child: ChildProcess) {
    this.name = name;
    this.#child = child;
    this.pid = child.pid ?? -1;
    live.add(child);
    this.#keep("stdout");
    this.#keep("stderr");
    this.ended = new Promise((resolve) => {
      const end = (code: number | null): void => {
        this.#hasEnded = true;
        live.delete(child);
        resolve(code);
      };
      child.once("close", end);
      child.once("error", (error) => {
        this.#output.stderr += error.message;
        end(-1);
      });
    });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get stdout(): string {
    return this.#output.stdout;
  }

  get stderr(): string {
    return this.#output.stderr;
  }

  /** An error about this program: `sentence`, then the end of its output. */
  failure(sentence: string): BenchError {
    const { stdout, stderr } = this.#output;
    const output = `${stdout}\n${stderr}`.trim().split("\n").slice(-tailLines).join("\n  ");
    return new BenchError(output === "" ? sentence : `${sentence} Its last output:\n  ${output}`);
  }

  /** Stops the program and all its child processes. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasEnded) signalGroup(this.#child, "SIGTERM");
    const kill = setTimeout(() => signalGroup(this.#child, "SIGKILL"), stopLimitMs);
    await this.ended;
    clearTimeout(kill);
  }

  #keep(stream: "stdout" | "stderr"): void {
    this.#child[stream]?.setEncoding("utf8").on("data", (text: string) => {
      this.#output[stream] = (this.#output[stream] + text).slice(-outputMax);
    });
  }
}

/** This process's environment, without settings that would silently change a measured program. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const isSetting = (name: string): boolean =>
    /^(INGLE_|LLAMA_|GGML_|OMP_|PORT$|HOST$|MODEL_NAME$)/.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isSetting(name)));
}

/** Starts a program. If it cannot be started, it ends at once with exit code -1. */
export function startProgram(
  program: string,
  args: readonly string[],
  options: ProgramOptions = {},
): RunningProgram {
  const { cwd, env } = options;
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  return new RunningProgram(program, child);
}

/** Runs a program to its end and returns its stdout. Throws BenchError if it fails or takes too long. */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: ProgramOptions & { limitMs: number },
): Promise<string> {
  return (await runToEnd(program, args, options)).stdout;
}

/** The same for programs of which some print results to stderr: returns all that was printed. */
export async function runToEnd(
  program: string,
  args: readonly string[],
  options: ProgramOptions & { limitMs: number },
): Promise<{ stdout: string; stderr: string }> {
  options.signal?.throwIfAborted();
  await using running = startProgram(program, args, options);
  const limit = AbortSignal.timeout(options.limitMs);
  const stop = options.signal === undefined ? limit : AbortSignal.any([limit, options.signal]);
  await Promise.race([running.ended, once(stop, "abort")]);
  if (!running.hasEnded) {
    options.signal?.throwIfAborted();
    throw running.failure(`${program} was still running after ${options.limitMs / 1000} seconds.`);
  }
  if ((await running.ended) !== 0) throw running.failure(`${program} ${args[0] ?? ""} failed.`);
  return { stdout: running.stdout, stderr: running.stderr };
}

/** Ignores a group that has already ended. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
