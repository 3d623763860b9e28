// The other end of in-worker.ts: does one task and says how it went.
import { parentPort, workerData } from "node:worker_threads";

import { digestContents } from "./contents.ts";
import { convertFolder } from "./convert-folder.ts";
import { MlxError } from "./errors.ts";
import type { Task, WorkerMessage } from "./in-worker.ts";

const port = parentPort;
if (port === null) throw new TypeError("worker.ts runs in a worker thread.");

const stop = new AbortController();
port.once("message", () => stop.abort());
const send = (message: WorkerMessage): void => port.postMessage(message);

/** A terminal takes ten pictures a second; a message for each megabyte would only cost time. */
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

const task: Task = workerData; // what in-worker.ts handed in
try {
  const value =
    task.kind === "digest"
      ? await digestContents(task.folder, options)
      : await convertFolder(task.folder, task.target, { ...options, exact: task.exact });
  send({ kind: "done", value });
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
