// `client.models`: the models that the server can serve. `client.jobs`: downloads, imports and quantizations, which continue on the
// server without a connection.
import type { Job, JobList, JobRequest, ModelEntry, ModelList } from "@ingle/protocol";
import { hasList, hasText } from "./response-body.ts";
import { callsBelow } from "./calls.ts";

import type { CallOptions, Transport } from "./transport.ts";

export interface Models {
  /** All models; use an entry's `id` as the `model` of a request. */
  list(options?: CallOptions): Promise<ModelList>;
  /** One model by its id; rejects with an `ApiError` of code `model_not_found` if there is none. */
  retrieve(id: string, options?: CallOptions): Promise<ModelEntry>;
}

const isModelEntry = (value: unknown): value is ModelEntry => hasText(value, "id");
const isModelList = (value: unknown): value is ModelList =>
  hasList(value, "data") && value["data"].every(isModelEntry);

export function createModels(transport: Transport): Models {
  return {
    list: ({ signal } = {}) => transport.json({ method: "GET", path: "/v1/models", signal }, isModelList),
    retrieve: (id, { signal } = {}) =>
      // An id may contain slashes, but it is one segment of the path.
      transport.json({ method: "GET", path: `/v1/models/${encodeURIComponent(id)}`, signal }, isModelEntry),
  };
}

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
