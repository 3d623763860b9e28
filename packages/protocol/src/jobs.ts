// Work on the model library that takes minutes, under /api/v1/jobs: downloads, imports, quantizations. A job belongs to the
// server, not to the connection that asked for it: a page that is loaded again finds it where it was.
import { z } from "zod";
import { modelField } from "./request-fields.ts";

/** Most jobs that are kept, finished ones included; the oldest finished one makes room. */
export const jobsMax = 100;
/** Most UTF-16 units of the name of a quantization. */
const quantizationLengthMax = 32;
/** Most UTF-16 units of a path that is imported. */
export const importPathLengthMax = 4096;

const pathRule = `path must be a string of 1 to ${importPathLengthMax} characters`;
const quantizationRule = `quantization must be a string of 1 to ${quantizationLengthMax} characters, such as Q4_K_M`;
const idRule = "id must be the id of a job";

export const JobKind = z.enum(["pull", "import", "quantize"]).meta({ id: "JobKind" });
export type JobKind = z.infer<typeof JobKind>;

/**
 * `waiting` for its turn or for another process; `paused` keeps what has been downloaded; `done`, `failed` and `cancelled`
 * are final, but a failed download can be resumed.
 */
export const JobStatus = z
  .enum(["waiting", "running", "paused", "done", "failed", "cancelled"])
  .meta({ id: "JobStatus" });
export type JobStatus = z.infer<typeof JobStatus>;

export const Job = z
  .object({
    id: z.string(),
    kind: JobKind,
    status: JobStatus,
    model: z.string().meta({ description: "The model it works on: the id asked for, then the id it has." }),
    source: z.string().nullable().meta({ description: "The path of an import; null for others." }),
    quantization: z.string().nullable().meta({ description: "What `quantize` writes; null for others." }),
    phase: z
      .enum(["verify", "download", "unpack", "convert", "quantize"])
      .nullable()
      .meta({ description: "What it is doing; null while it does nothing." }),
    bytes: z.int().meta({ description: "Done of this phase." }),
    total_bytes: z.int().meta({ description: "Of this phase; 0 while it is not known." }),
    bytes_per_second: z.number().nullable().meta({ description: "Of the last seconds." }),
    can_pause: z.boolean().meta({ description: "It can be paused and resumed without losing work." }),
    error: z.string().nullable().meta({ description: "Why it failed, in a sentence." }),
    created_at: z.int().meta({ description: "Unix seconds." }),
  })
  .meta({ id: "Job" });
export type Job = z.infer<typeof Job>;

/** The answer of `GET /api/v1/jobs`: the newest first. */
export const JobList = z.object({ object: z.literal("list"), data: z.array(Job) }).meta({ id: "JobList" });
export type JobList = z.infer<typeof JobList>;

/** The body of `POST /api/v1/jobs`: what is to be done. Imports are taken from programs of this machine's user only. */
export const JobRequest = z
  .discriminatedUnion(
    "kind",
    [
      z.looseObject({ kind: z.literal("pull"), model: modelField }),
      z.looseObject({
        kind: z.literal("import"),
        path: z.string(pathRule).min(1, pathRule).max(importPathLengthMax, pathRule),
      }),
      z.looseObject({
        kind: z.literal("quantize"),
        model: modelField,
        quantization: z
          .string(quantizationRule)
          .min(1, quantizationRule)
          .max(quantizationLengthMax, quantizationRule),
      }),
    ],
    "kind must be pull, import or quantize",
  )
  .meta({ id: "JobRequest" });
export type JobRequest = z.infer<typeof JobRequest>;

/** The body of `POST /api/v1/jobs/pause`, `…/resume` and `…/cancel`; the answer is the job. */
export const JobActionRequest = z
  .looseObject({ id: z.string(idRule).min(1, idRule).max(64, idRule) })
  .meta({ id: "JobActionRequest" });
export type JobActionRequest = z.infer<typeof JobActionRequest>;
