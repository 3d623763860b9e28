// Background jobs on the model library: GET and POST /api/v1/jobs, POST /api/v1/jobs/pause, …/resume and …/cancel.
import { Job, JobList, JobActionRequest, JobRequest } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { JobRunner } from "../../jobs/job-runner.ts";
import { noLibrary } from "../../models/model-errors.ts";
import { WireError } from "../../wire-error.ts";
import { addRoute, type Route } from "../../http/add-route.ts";

const list = {
  path: "GET /api/v1/jobs",
  right: "management",
  summary: "List downloads, imports and quantizations, newest first",
  responses: { 200: JobList },
  errors: ["not_found"],
} satisfies Route;
const start = {
  path: "POST /api/v1/jobs",
  right: "management",
  body: JobRequest,
  summary: "Start a job, which continues when its client disconnects",
  description: "Imports are accepted only from programs and pages on the server's own machine.",
  responses: { 200: Job },
  errors: ["not_found", "overloaded", "shutting_down"],
  example: { kind: "pull" },
} satisfies Route;
const action = {
  right: "management",
  body: JobActionRequest,
  responses: { 200: Job },
  errors: start.errors,
  namesNoModel: true,
  example: { id: "0b0e7b2e-5c1d-4c1b-9d5a-3f0c1f0d2a11" },
} satisfies Omit<Route, "path" | "summary">;
const pause = {
  ...action,
  path: "POST /api/v1/jobs/pause",
  summary: "Pause a download and keep what was downloaded",
} satisfies Route;
const resume = {
  ...action,
  path: "POST /api/v1/jobs/resume",
  summary: "Resume a download that was paused or has failed",
} satisfies Route;
const cancel = { ...action, path: "POST /api/v1/jobs/cancel", summary: "Cancel a job" } satisfies Route;

interface JobsOptions {
  /** Absent: this server manages no library. */
  jobs: JobRunner | undefined;
}

export function addJobs(app: FastifyInstance, options: JobsOptions): void {
  const jobs = (): JobRunner => {
    if (options.jobs !== undefined) return options.jobs;
    throw noLibrary();
  };

  addRoute(app, list, async (): Promise<JobList> => ({ object: "list", data: jobs().list() }));
  addRoute(app, start, async ({ body, isOfThisMachine }) => {
    if (body.kind === "import" && !isOfThisMachine) throw importFromElsewhere();
    return jobs().start(body);
  });
  addRoute(app, pause, async ({ body }) => await jobs().pause(body.id));
  addRoute(app, resume, async ({ body }) => jobs().resume(body.id));
  addRoute(app, cancel, async ({ body }) => await jobs().cancel(body.id));
}

/** A client on another machine must not read this machine's disk. */
function importFromElsewhere(): WireError {
  return new WireError(
    "forbidden",
    "Only programs and pages on the server's own machine can import files. Run `ingle import` there.",
  );
}
