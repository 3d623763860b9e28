// Long-running work on the model library under /api/v1/jobs: downloads, imports and quantizations. A job belongs to the server, not
// to the connection that started it.
import { z } from "zod";

import { errorCodeField } from "../errors.ts";
import { requestObject, responseObject, stringField } from "../fields/field.ts";
import { modelField } from "../fields/request-fields.ts";

/** Maximum number of jobs that are kept, including finished ones; a new job replaces the oldest finished one. */
export const jobsMax = 100;
/** Maximum length of the name of a quantization, in UTF-16 units. */
const quantizationLengthMax = 32;
/** Maximum length of a path to import, in UTF-16 units. */
const importPathLengthMax = 4096;

const idRule = "id must be the id of a job";

export const JobKind = z.enum(["pull", "import", "quantize"]).meta({ id: "JobKind" });
export type JobKind = z.infer<typeof JobKind>;

/**
 * `waiting`: in the queue, or for another process. `paused` keeps the downloaded part. `done`, `failed` and `cancelled` are final,
 * except that a failed download can be resumed.
 */
export const JobStatus = z
  .enum(["waiting", "running", "paused", "done", "failed", "cancelled"])
  .meta({ id: "JobStatus" });
export type JobStatus = z.infer<typeof JobStatus>;

export const Job = responseObject("Job", {
  id: z.string(),
  kind: JobKind,
  status: JobStatus,
  model: z.string().describe("The model's id: as in the request, then as in the library."),
  source: z.string().nullable().describe("The path of an import; otherwise null."),
  quantization: z.string().nullable().describe("The quantization that `quantize` writes; otherwise null."),
  phase: z
    .enum(["verify", "download", "unpack", "convert", "quantize"])
    .nullable()
    .describe("The current phase; null while the job is not running."),
  bytes: z.int().describe("Bytes done in this phase."),
  total_bytes: z.int().describe("Bytes of this phase; 0 while unknown."),
  bytes_per_second: z.number().nullable().describe("Over the last seconds."),
  can_pause: z.boolean().describe("Whether it can be paused and resumed without losing work."),
  error: z.string().nullable().describe("Why it failed, in a sentence."),
  error_code: errorCodeField,
  created_at: z.int().describe("Unix seconds."),
  ended_at: z.int().nullable().describe("Unix seconds; null unless it is done, failed or cancelled."),
});
export type Job = z.infer<typeof Job>;

/** The response of `GET /api/v1/jobs`: newest first. */
export const JobList = responseObject("JobList", { object: z.literal("list"), data: z.array(Job) });
export type JobList = z.infer<typeof JobList>;

/** The body of `POST /api/v1/jobs`. Only programs of this machine's user may start imports. */
export const JobRequest = z
  .discriminatedUnion(
    "kind",
    [
      z.looseObject({ kind: z.literal("pull"), model: modelField }),
      z.looseObject({
        kind: z.literal("import"),
        path: stringField("path", { min: 1, max: importPathLengthMax }),
      }),
      z.looseObject({
        kind: z.literal("quantize"),
        model: modelField,
        quantization: stringField("quantization", {
          min: 1,
          max: quantizationLengthMax,
          hint: ", such as Q4_K_M",
        }),
      }),
    ],
    "kind must be pull, import or quantize",
  )
  .meta({ id: "JobRequest" });
export type JobRequest = z.infer<typeof JobRequest>;

/** The body of `POST /api/v1/jobs/pause`, `…/resume` and `…/cancel`; the response is the job. */
export const JobActionRequest = requestObject("JobActionRequest", {
  id: z.string(idRule).min(1, idRule).max(64, idRule),
});
export type JobActionRequest = z.infer<typeof JobActionRequest>;
