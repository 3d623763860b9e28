// `client.jobs`: downloads, imports and quantizations, which continue on the server without a connection.
import type { Job, JobList, JobRequest } from "@ingle/protocol";

import { hasList, hasText } from "./response-body.ts";
import { callsBelow } from "./api-calls.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Each call resolves with the job's current state; `list()` and `client.events()` report its progress. */
export interface Jobs {
  /** All jobs that the server keeps, newest first. */
  list(options?: CallOptions): Promise<JobList>;
  /** Starts a job: `{ kind: "pull", model }`, `{ kind: "import", path }` or `{ kind: "quantize", model, quantization }`. */
  start(job: JobRequest, options?: CallOptions): Promise<Job>;
  /** Interrupts a download and keeps the downloaded part. */
  pause(id: string, options?: CallOptions): Promise<Job>;
  /** Continues a download that was paused or has failed. */
  resume(id: string, options?: CallOptions): Promise<Job>;
  /** Ends a job for good. */
  cancel(id: string, options?: CallOptions): Promise<Job>;
}

const isJobList = (value: unknown): value is JobList => hasList(value, "data");
const isJob = (value: unknown): value is Job => hasText(value, "id") && hasText(value, "kind");

export function createJobs(transport: Transport): Jobs {
  const { get, post } = callsBelow(transport, "/api/v1/jobs");
  return {
    list: (options = {}) => get("", options, isJobList),
    start: (job, options = {}) => post("", job, options, isJob),
    pause: (id, options = {}) => post("/pause", { id }, options, isJob),
    resume: (id, options = {}) => post("/resume", { id }, options, isJob),
    cancel: (id, options = {}) => post("/cancel", { id }, options, isJob),
  };
}
