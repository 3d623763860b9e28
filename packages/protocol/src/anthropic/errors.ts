// Errors in Anthropic's shape: the ordinary body, with the fields and types that Anthropic's clients read.
import { z } from "zod";

import { anthropicErrorType, ErrorBody, isWireErrorCode } from "../errors.ts";
import { responseObject } from "../fields/field.ts";

/** The body of an error response, and the data of an `error` event. */
export const AnthropicErrorBody = responseObject("AnthropicErrorBody", {
  type: z.literal("error"),
  error: ErrorBody.shape.error,
  request_id: z.string().describe("The same as the header x-request-id."),
});
export type AnthropicErrorBody = z.infer<typeof AnthropicErrorBody>;

/** The same body with Anthropic's type. */
export function anthropicErrorBody({ error }: ErrorBody, requestId: string): AnthropicErrorBody {
  const { code } = error;
  const type = isWireErrorCode(code) ? anthropicErrorType(code) : error.type;
  return { type: "error", error: { ...error, type }, request_id: requestId };
}
