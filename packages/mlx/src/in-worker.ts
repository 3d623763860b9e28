// Runs digests and conversions in a worker thread, because both compute for seconds and the caller may be a server.
import { Worker } from "node:worker_threads";

import { MlxError, mlxErrorCodes } from "./errors.ts";
import type { ConversionReport } from "./write-model.ts";

export type Task =
  | { kind: "digest"; folder: string }
  | { kind: "convert"; folder: string; target: string; exact: boolean }
  | { kind: "adapter"; folder: string; target: string; base: string };

export type WorkerMessage =
  | { kind: "progress"; bytes: number; totalBytes: number }
  | { kind: "done"; value: string | ConversionReport }
  | { kind: "failed"; isOurs: boolean; code: string; message: string };

export interface WorkerOptions {
  /** In bytes of the folder. */
  onProgress?: ((bytes: number, totalBytes: number) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** `digestContents` in a worker thread. */
export async function digestFolder(folder: string, options: WorkerOptions = {}): Promise<string> {
  const digest = await run({ kind: "digest", folder }, options);
  if (typeof digest !== "string") throw new TypeError("The worker ran another task.");
  return digest;
}

/**
 * Converts the folder's model to a GGUF file; if it fails, nothing is left behind. Throws `MlxError`, file system errors and
 * the signal's reason.
 */
export async function convertMlxFolder(
  folder: string,
  target: string,
  { exact = false, ...options }: WorkerOptions & { exact?: boolean | undefined } = {},
): Promise<ConversionReport> {
  const report = await run({ kind: "convert", folder, target, exact }, options);
  if (typeof report === "string") throw new TypeError("The worker ran another task.");
  return report;
}

/** `convertAdapter` in a worker thread. Errors of the base's file keep their code. */
export async function convertAdapterFolder(
  folder: string,
  target: string,
  { base, ...options }: WorkerOptions & { base: string },
): Promise<void> {
  await run({ kind: "adapter", folder, target, base }, options);
}

async function run(task: Task, { onProgress, signal }: WorkerOptions): Promise<string | ConversionReport> {
  signal?.throwIfAborted();
  const worker = new Worker(new URL("worker.js", import.meta.url), { workerData: task });
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origins, windows have
  const stop = (): void => worker.postMessage("stop");
  signal?.addEventListener("abort", stop);
  try {
    return await new Promise((resolve, reject) => {
      worker.on("message", (message: WorkerMessage) => {
        if (message.kind === "progress") onProgress?.(message.bytes, message.totalBytes);
        else if (message.kind === "done") resolve(message.value);
        else reject(toError(message));
      });
      worker.once("error", reject);
      worker.once("exit", (code) => reject(new Error(`The conversion thread exited with code ${code}.`)));
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", stop);
    await worker.terminate();
  }
}

function toError({ isOurs, code, message }: Extract<WorkerMessage, { kind: "failed" }>): Error {
  const ours = mlxErrorCodes.find((candidate) => candidate === code);
  if (isOurs && ours !== undefined) return new MlxError(ours, message);
  return Object.assign(new Error(message), code === "" ? {} : { code });
}
