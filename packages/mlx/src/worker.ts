// The worker thread of in-worker.ts: runs one task and reports its progress and its result.
import { parentPort, workerData } from "node:worker_threads";

import { convertAdapter } from "./adapters/convert-adapter.ts";
import { digestContents } from "./folder-contents.ts";
import { convertFolder } from "./convert-folder.ts";
import { MlxError } from "./errors.ts";
import type { Task, WorkerMessage } from "./in-worker.ts";
import type { ConversionReport } from "./write-model.ts";

const port = parentPort;
if (port === null) throw new TypeError("worker.ts runs in a worker thread.");

const stop = new AbortController();
port.once("message", () => stop.abort());
const send = (message: WorkerMessage): void => port.postMessage(message);

/** Progress is shown about ten times a second; a message per megabyte would only cost time. */
const intervalMs = 50;
let lastAt = 0;
const { signal } = stop;
const options = {
  signal,
  onProgress: (bytes: number, totalBytes: number): void => {
    const now = performance.now();
    if (now - lastAt < intervalMs && bytes < totalBytes) return;
    lastAt = now;
    send({ kind: "progress", bytes, totalBytes });
  },
};

/** An adapter's result is its file. */
async function runTask(task: Task): Promise<string | ConversionReport> {
  switch (task.kind) {
    case "digest":
      return await digestContents(task.folder, options);
    case "convert":
      return await convertFolder(task.folder, task.target, { ...options, exact: task.exact });
    case "adapter":
      await convertAdapter(task.folder, task.target, task.base, options);
      return task.target;
  }
}

const task: Task = workerData; // from in-worker.ts
try {
  send({ kind: "done", value: await runTask(task) });
} catch (error) {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  send({
    kind: "failed",
    isOurs: error instanceof MlxError,
    code: typeof code === "string" ? code : "",
    message: error instanceof Error ? error.message : String(error),
  });
} finally {
  port.close();
}
