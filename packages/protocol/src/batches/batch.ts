// Batches of /v1/batches: many requests of one file, which are computed when nothing else is to do.
import { z } from "zod";

import {
  integerParameter,
  optionalField,
  refusedField,
  requestObject,
  responseObject,
  stringField,
} from "../fields/field.ts";
import { metadataField, storedIdLengthMax } from "../responses/request.ts";
import { batchEndpoints } from "./line.ts";

/** Maximum number of requests in one batch, as in OpenAI's API. */
export const batchLinesMax = 50_000;
/** Maximum number of errors that a refused input file lists. */
export const batchErrorsMax = 100;
/** Maximum number of batches of one key that have not ended. */
export const openBatchesMax = 100;
/** Maximum and default number of batches per page, as in OpenAI's API. */
const batchesPageMax = 100;
export const batchesPageDefault = 20;

/**
 * `failed`, `completed` and `cancelled` are final. A batch does not expire: on one's own machine, a late result is worth more than
 * none.
 */
export const BatchStatus = z
  .enum(["validating", "failed", "in_progress", "finalizing", "completed", "cancelling", "cancelled"])
  .meta({ id: "BatchStatus" });
export type BatchStatus = z.infer<typeof BatchStatus>;

/** What is wrong with the input file. */
export const BatchError = responseObject("BatchError", {
  code: z.string().describe("One of the codes of docs/errors.md."),
  message: z.string(),
  param: z.string().nullable().describe("The wrong field of the line, or null."),
  line: z.int().nullable().describe("The number of the line, beginning with 1; null: the whole file."),
});
export type BatchError = z.infer<typeof BatchError>;

const BatchCounts = responseObject("BatchCounts", {
  total: z.int(),
  completed: z.int().describe("Requests with a response."),
  failed: z.int().describe("Requests with an error."),
});

/** The tokens of all responses so far. */
export const BatchUsage = responseObject("BatchUsage", {
  input_tokens: z.int(),
  input_tokens_details: z.object({ cached_tokens: z.int() }),
  output_tokens: z.int(),
  output_tokens_details: z.object({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
});
export type BatchUsage = z.infer<typeof BatchUsage>;

const when = z.int().optional().describe("Unix seconds.");

export const Batch = responseObject("Batch", {
  id: z.string().describe("batch_…"),
  object: z.literal("batch"),
  endpoint: z.string(),
  input_file_id: z.string(),
  completion_window: z.string(),
  status: BatchStatus,
  errors: z
    .object({ object: z.literal("list"), data: z.array(BatchError) })
    .optional()
    .describe("Why the input file was refused, if the status is failed."),
  output_file_id: z.string().optional().describe("The file of the responses, once the batch has ended."),
  error_file_id: z.string().optional().describe("The file of the requests that failed, if there are any."),
  created_at: z.int().describe("Unix seconds."),
  in_progress_at: when,
  finalizing_at: when,
  completed_at: when,
  failed_at: when,
  cancelling_at: when,
  cancelled_at: when,
  request_counts: BatchCounts,
  usage: BatchUsage,
  metadata: z.record(z.string(), z.string()).nullable(),
});
export type Batch = z.infer<typeof Batch>;

/** A page of batches, newest first. */
export const BatchList = responseObject("BatchList", {
  object: z.literal("list"),
  data: z.array(Batch),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});
export type BatchList = z.infer<typeof BatchList>;

/** Which page of batches to return. */
export const BatchesQuery = z.looseObject({
  limit: optionalField(
    integerParameter("limit", { min: 1, max: batchesPageMax }),
    "Maximum number of batches per page.",
    batchesPageDefault,
  ),
  after: optionalField(
    stringField("after", { max: storedIdLengthMax }),
    "The id of a batch: the page begins after it.",
  ),
});
export type BatchesQuery = z.infer<typeof BatchesQuery>;

const endpointRule = `endpoint must be one of ${batchEndpoints.join(", ")}`;

/** The body of `POST /v1/batches`. */
export const BatchRequest = requestObject("BatchRequest", {
  input_file_id: stringField("input_file_id", { min: 1, max: storedIdLengthMax }).describe(
    "A file of POST /v1/files.",
  ),
  endpoint: z.enum(batchEndpoints, endpointRule).describe("Where each request of the file would be sent."),
  completion_window: z
    .literal("24h", 'completion_window must be "24h"')
    .describe("A formality of OpenAI's API: a batch takes as long as it takes, and does not expire."),
  metadata: optionalField(metadataField, "Pairs that are returned as given."),
  output_expires_after: refusedField("files are kept until they are deleted"),
});
export type BatchRequest = z.infer<typeof BatchRequest>;
