// Programs of this package in child processes, where native code may crash without ending this process.
import { fork, type ChildProcess, type ForkOptions } from "node:child_process";

/** Starts a program: the file in the build, because a child process cannot run TypeScript. */
export function forkProgram(program: URL, { env = process.env, ...options }: ForkOptions): ChildProcess {
  return fork(program, [], {
    execArgv: [],
    ...options,
    // Otherwise ggml would start a debugger to print a backtrace.
    env: { ...env, GGML_NO_BACKTRACE: "1" },
  });
}

/** Keeps the last characters of stderr, where a crashing process writes the reason. Returns what reads them. */
export function keepStderr({ stderr }: ChildProcess, lengthMax: number): () => string {
  let kept = "";
  stderr?.setEncoding("utf8");
  stderr?.on("data", (text: string) => (kept = (kept + text).slice(-lengthMax)));
  return () => kept.trim();
}
