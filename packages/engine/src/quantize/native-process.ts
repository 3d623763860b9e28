// Runs native work on files in a process of its own: it can be ended at any moment, gives its memory back when it ends,
// and a file that makes llama.cpp end its process ends nothing else.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { EngineError } from "../errors.ts";
import type { NativeTasks, TaskName, TaskReport } from "./native-tasks.ts";

// The name in the build: a child process does not read TypeScript.
const program = fileURLToPath(new URL("native-child.js", import.meta.url));
/** What a dying process says comes last. */
const lastWordsMax = 4096;

export interface TaskSurroundings<Name extends TaskName> {
  /** Named in the error when the process dies. */
  file: string;
  onNews?: ((news: NativeTasks[Name]["news"]) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Does one task. When the signal is aborted the process is killed and gone before this rejects with the signal's reason.
 * Throws the task's own errors, `engine_failed` when its process died, and `out_of_memory` when the system killed it.
 */
export async function runTask<Name extends TaskName>(
  name: Name,
  options: NativeTasks[Name]["options"],
  { file, onNews, signal }: TaskSurroundings<Name>,
): Promise<NativeTasks[Name]["result"]> {
  signal?.throwIfAborted();
  const child = fork(program, [], {
    execArgv: [],
    // Without it, ggml would start a debugger to tell where it ended.
    env: { ...process.env, GGML_NO_BACKTRACE: "1" },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const lastWords = keepLastWords(child);
  let outcome: Exclude<TaskReport<Name>, { kind: "news" }> | undefined;
  child.on("message", (report: TaskReport<Name>) => {
    if (report.kind === "news") onNews?.(report.news);
    else outcome = report;
  });
  const kill = (): void => void child.kill("SIGKILL");
  signal?.addEventListener("abort", kill, { once: true });
  try {
    const ended = Promise.all([once(child, "close"), once(child, "disconnect")]);
    child.send({ name, options }, () => {}); // a child that is gone is told of by `ended`
    await ended;
  } finally {
    signal?.removeEventListener("abort", kill);
  }
  signal?.throwIfAborted();
  if (outcome === undefined) throw deathOf(child, file, lastWords());
  if (outcome.kind === "failed") {
    const { code, message, details } = outcome;
    throw new EngineError(code, message, { details });
  }
  return outcome.result;
}

function keepLastWords({ stderr }: ChildProcess): () => string {
  let words = "";
  stderr?.setEncoding("utf8");
  stderr?.on("data", (text: string) => (words = (words + text).slice(-lastWordsMax)));
  return () => words.trim();
}

function deathOf({ exitCode, signalCode }: ChildProcess, file: string, lastWords: string): EngineError {
  const cause = lastWords === "" ? {} : { cause: new Error(lastWords) };
  if (signalCode === "SIGKILL") {
    const message = `The system ended the work on ${file}, most likely for want of memory. Close other programs and try again.`;
    return new EngineError("out_of_memory", message, cause);
  }
  const how = signalCode ?? `exit code ${exitCode}`;
  const message = `The work on ${file} ended in the middle (${how}). The file may be damaged: fetch it again.`;
  return new EngineError("engine_failed", message, { ...cause, details: { file } });
}
