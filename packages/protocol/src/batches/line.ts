// The lines of a batch: requests in its input file, results in its output files.
import { z } from "zod";

import { requestObject, responseObject, stringField } from "../fields/field.ts";
import { bodyRule } from "../fields/request-fields.ts";

/** Where the requests of a batch may go. */
export const batchEndpoints = [
  "/v1/chat/completions",
  "/v1/completions",
  "/v1/embeddings",
  "/v1/responses",
] as const;
export type BatchEndpoint = (typeof batchEndpoints)[number];

/** Maximum length of a custom_id, in UTF-16 units. */
const customIdLengthMax = 512;
/** Maximum size of a line in bytes: a request with some images, which is read without delaying other requests. */
export const batchLineBytesMax = 8 * 1024 * 1024;

/** A line of an input. */
export const BatchLine = requestObject("BatchLine", {
  custom_id: stringField("custom_id", { min: 1, max: customIdLengthMax }),
  method: z.literal("POST", "method must be POST"),
  url: z.enum(batchEndpoints, `url must be one of ${batchEndpoints.join(", ")}`),
  body: z.record(z.string(), z.unknown(), bodyRule),
});
export type BatchLine = z.infer<typeof BatchLine>;

/** A line of an output. */
export const BatchResult = responseObject("BatchResult", {
  id: z.string().describe("batch_req_…"),
  custom_id: z.string().nullable().describe("That of the request; null if it has none."),
  response: z
    .object({
      status_code: z.int(),
      request_id: z.string().describe("The id in the server's log."),
      body: z.unknown().describe("The response of the endpoint, or its error."),
    })
    .nullable(),
  error: z
    .object({ code: z.string(), message: z.string(), line: z.int().optional() })
    .nullable()
    .describe("Why the request was not sent. line is its number in the input, beginning with 1."),
});
export type BatchResult = z.infer<typeof BatchResult>;
