// Background jobs on the model library: GET and POST /api/v1/jobs, POST /api/v1/jobs/pause, …/resume and …/cancel.
import { Job, JobList, JobActionRequest, JobRequest } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { JobRunner } from "../jobs/job-runner.ts";
import type { Operation } from "../openapi/operation.ts";
import { WireError } from "../wire-error.ts";

const errors = ["not_found", "overloaded", "shutting_down"] as const;
const list: Operation = {
  summary: "List downloads, imports and quantizations, newest first",
  answers: { 200: JobList },
  errors: ["not_found"],
};
const start: Operation = {
  summary: "Start a job, which continues when its client disconnects",
  description: "Imports are accepted only from programs and pages on the server's own machine.",
  answers: { 200: Job },
  errors,
  example: { kind: "pull" },
};
const action: Omit<Operation, "summary"> = {
  answers: { 200: Job },
  errors,
  namesNoModel: true,
  example: { id: "0b0e7b2e-5c1d-4c1b-9d5a-3f0c1f0d2a11" },
};

export interface JobsOptions {
  /** Absent: this server manages no library. */
  jobs: JobRunner | undefined;
}

export async function jobRoutes(app: FastifyInstance, options: JobsOptions): Promise<void> {
  const jobs = (): JobRunner => {
    if (options.jobs !== undefined) return options.jobs;
    throw new WireError("not_found", "This server has no model library.");
  };
  const typed = app.withTypeProvider<ZodTypeProvider>();

  app.get(
    "/api/v1/jobs",
    { config: { right: "management", operation: list } },
    async (): Promise<JobList> => ({
      object: "list",
      data: jobs().list(),
    }),
  );

  typed.post(
    "/api/v1/jobs",
    { schema: { body: JobRequest }, config: { right: "management", operation: start } },
    async (request): Promise<Job> => {
      if (request.body.kind === "import" && !request.isOfThisMachine) throw importFromElsewhere();
      return jobs().start(request.body);
    },
  );

  const actions = {
    pause: {
      summary: "Pause a download and keep what was downloaded",
      run: (id: string) => jobs().pause(id),
    },
    resume: {
      summary: "Resume a download that was paused or has failed",
      run: (id: string) => jobs().resume(id),
    },
    cancel: { summary: "Cancel a job", run: (id: string) => jobs().cancel(id) },
  };
  for (const [name, { summary, run }] of Object.entries(actions)) {
    typed.post(
      `/api/v1/jobs/${name}`,
      {
        schema: { body: JobActionRequest },
        config: { right: "management", operation: { ...action, summary } },
      },
      async (request): Promise<Job> => await run(request.body.id),
    );
  }
}

/** A client on another machine must not read this machine's disk. */
function importFromElsewhere(): WireError {
  return new WireError(
    "forbidden",
    "Only programs and pages on the server's own machine can import files. Run `ingle import` there.",
  );
}
