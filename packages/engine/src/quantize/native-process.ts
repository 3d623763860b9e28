// Runs native work on files in a child process: it can be ended at any time, frees its memory when it ends, and a file that
// crashes llama.cpp crashes nothing else.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { forkProgram, keepStderr } from "../native/child-program.ts";
import { EngineError, type EngineErrorCode, type EngineErrorDetails } from "../base/errors.ts";
import type { NativeImatrixOptions, NativeImatrixResult, NativeQuantizeOptions } from "../native/addon.ts";

/** The tasks of the child process. */
interface NativeTasks {
  plan: { options: NativeQuantizeOptions; progress: never; result: number };
  /** The progress is the name of the tensor that is started. */
  quantize: { options: NativeQuantizeOptions; progress: string; result: void };
  imatrix: {
    options: NativeImatrixOptions;
    progress: { done: number; total: number };
    result: NativeImatrixResult;
  };
}

export type TaskName = keyof NativeTasks;

/** The only message to the child. */
export type TaskCommand = {
  [Name in TaskName]: { name: Name; options: NativeTasks[Name]["options"] };
}[TaskName];

/** Messages of the child: any number of progress reports, then one of the others. */
export type TaskReport<Name extends TaskName> =
  | { kind: "progress"; progress: NativeTasks[Name]["progress"] }
  | { kind: "done"; result: NativeTasks[Name]["result"] }
  | { kind: "failed"; code: EngineErrorCode; message: string; details: EngineErrorDetails };

const program = new URL("native-child.js", import.meta.url);
/** Characters of stderr that are kept. */
const stderrLengthMax = 4096;

interface TaskOptions<Name extends TaskName> {
  /** Named in the error if the process crashes. */
  file: string;
  onProgress?: ((progress: NativeTasks[Name]["progress"]) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Runs one task. On abort, the process has been killed before this rejects with the signal's reason.
 * Throws the task's own errors, `engine_failed` if its process crashed, and `out_of_memory` if the system killed it.
 */
export async function runTask<Name extends TaskName>(
  name: Name,
  options: NativeTasks[Name]["options"],
  { file, onProgress, signal }: TaskOptions<Name>,
): Promise<NativeTasks[Name]["result"]> {
  signal?.throwIfAborted();
  const child = forkProgram(program, { stdio: ["ignore", "ignore", "pipe", "ipc"] });
  const lastOutput = keepStderr(child, stderrLengthMax);
  let outcome: Exclude<TaskReport<Name>, { kind: "progress" }> | undefined;
  child.on("message", (report: TaskReport<Name>) => {
    if (report.kind === "progress") onProgress?.(report.progress);
    else outcome = report;
  });
  const kill = (): void => void child.kill("SIGKILL");
  signal?.addEventListener("abort", kill, { once: true });
  try {
    const ended = Promise.all([once(child, "close"), once(child, "disconnect")]);
    child.send({ name, options }, () => {}); // if the child is gone, `ended` resolves
    await ended;
  } finally {
    signal?.removeEventListener("abort", kill);
  }
  signal?.throwIfAborted();
  if (outcome === undefined) throw crashError(child, file, lastOutput());
  if (outcome.kind === "failed") {
    const { code, message, details } = outcome;
    throw new EngineError(code, message, { details });
  }
  return outcome.result;
}

function crashError({ exitCode, signalCode }: ChildProcess, file: string, output: string): EngineError {
  const cause = output === "" ? {} : { cause: new Error(output) };
  if (signalCode === "SIGKILL") {
    const message = `The system killed the process that worked on ${file}, most likely because memory ran out. Close other programs and try again.`;
    return new EngineError("out_of_memory", message, cause);
  }
  const how = signalCode ?? `exit code ${exitCode}`;
  const message = `The process that worked on ${file} crashed (${how}). The file may be damaged: download it again.`;
  return new EngineError("engine_failed", message, { ...cause, details: { file } });
}
