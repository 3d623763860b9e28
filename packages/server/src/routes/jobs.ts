// Work on the library that goes on by itself: GET and POST /api/v1/jobs, POST /api/v1/jobs/pause, …/resume and …/cancel.
import { Job, JobList, JobActionRequest, JobRequest } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { JobRunner } from "../jobs/job-runner.ts";
import type { Operation } from "../openapi/operation.ts";
import { WireError } from "../wire-error.ts";

const errors = ["not_found", "overloaded", "shutting_down"] as const;
const list: Operation = {
  summary: "Downloads, imports and quantizations, the newest first",
  answers: { 200: JobList },
  errors: ["not_found"],
};
const start: Operation = {
  summary: "Begin a job, which goes on when its client has left",
  description: "Imports are taken from programs and pages of the server's own machine only.",
  answers: { 200: Job },
  errors,
  example: { kind: "pull" },
};
const order: Omit<Operation, "summary"> = {
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
    throw new WireError("not_found", "This server was put together without a library of models.");
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

  const orders = {
    pause: { summary: "Interrupt a download, and keep what has come", run: (id: string) => jobs().pause(id) },
    resume: {
      summary: "Go on with a download that was paused or has failed",
      run: (id: string) => jobs().resume(id),
    },
    cancel: { summary: "End a job for good", run: (id: string) => jobs().cancel(id) },
  };
  for (const [name, { summary, run }] of Object.entries(orders)) {
    typed.post(
      `/api/v1/jobs/${name}`,
      {
        schema: { body: JobActionRequest },
        config: { right: "management", operation: { ...order, summary } },
      },
      async (request): Promise<Job> => await run(request.body.id),
    );
  }
}

/** Nobody looks around on this machine's disk, or has a folder of it converted, from another one. */
function importFromElsewhere(): WireError {
  return new WireError(
    "forbidden",
    "Paths of this machine are imported for its own programs and pages only: use `ingle import` there.",
  );
}
