// `client.jobs`: downloads, imports and quantizations that the server goes on with when nobody is connected.
import type { Job, JobList, JobRequest } from "@ingle/protocol";

import { hasList, hasText } from "./answer.ts";
import { callsBelow } from "./api-calls.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** The jobs of a server. Each order resolves with the job as it is then; `list()` and `client.events()` tell of its progress. */
export interface Jobs {
  /** All that are kept, the newest first. */
  list(options?: CallOptions): Promise<JobList>;
  /** Begins a job: `{ kind: "pull", model }`, `{ kind: "import", path }` or `{ kind: "quantize", model, quantization }`. */
  start(job: JobRequest, options?: CallOptions): Promise<Job>;
  /** Interrupts a download and keeps what has come. */
  pause(id: string, options?: CallOptions): Promise<Job>;
  /** Goes on with a download that was paused, or has failed. */
  resume(id: string, options?: CallOptions): Promise<Job>;
  /** Ends a job for good. */
  cancel(id: string, options?: CallOptions): Promise<Job>;
}

const isJobList = (value: unknown): value is JobList => hasList(value, "data");
const isJob = (value: unknown): value is Job => hasText(value, "id") && hasText(value, "kind");

/** Makes `client.jobs`. */
export function createJobs(transport: Transport): Jobs {
  const { ask, order } = callsBelow(transport, "/api/v1/jobs");
  return {
    list: (options = {}) => ask("", options, isJobList),
    start: (job, options = {}) => order("", job, options, isJob),
    pause: (id, options = {}) => order("/pause", { id }, options, isJob),
    resume: (id, options = {}) => order("/resume", { id }, options, isJob),
    cancel: (id, options = {}) => order("/cancel", { id }, options, isJob),
  };
}
