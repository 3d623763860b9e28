// Errors in Anthropic's shape: the ordinary body, with the fields and types that Anthropic's clients read.
import { z } from "zod";

import { ErrorBody, isWireErrorCode, type WireErrorCode } from "../errors.ts";

/** The `type` of each code. Clients know no type for some statuses; those have the type that clients handle alike. */
export const anthropicErrorTypes = {
  invalid_request: "invalid_request_error",
  invalid_json: "invalid_request_error",
  context_length_exceeded: "invalid_request_error",
  image_invalid: "invalid_request_error",
  image_not_supported: "invalid_request_error",
  generation_not_supported: "invalid_request_error",
  embeddings_not_supported: "invalid_request_error",
  unauthorized: "authentication_error",
  forbidden: "permission_error",
  not_found: "not_found_error",
  model_not_found: "not_found_error",
  method_not_allowed: "invalid_request_error",
  cancelled: "invalid_request_error",
  payload_too_large: "request_too_large",
  unsupported_media_type: "invalid_request_error",
  overloaded: "overloaded_error",
  rate_limited: "rate_limit_error",
  client_closed: "api_error",
  internal: "api_error",
  engine_failed: "api_error",
  model_loading: "overloaded_error",
  out_of_memory: "overloaded_error",
  shutting_down: "overloaded_error",
  worker_lost: "overloaded_error",
  worker_unreachable: "overloaded_error",
  worker_refused: "overloaded_error",
} as const satisfies Record<WireErrorCode, string>;

/** The body of an error response, and the data of an `error` event. */
export const AnthropicErrorBody = z
  .object({
    type: z.literal("error"),
    error: ErrorBody.shape.error,
    request_id: z.string().meta({ description: "The same as the header x-request-id." }),
  })
  .meta({ id: "AnthropicErrorBody" });
export type AnthropicErrorBody = z.infer<typeof AnthropicErrorBody>;

/** The same body with Anthropic's type. */
export function anthropicErrorBody({ error }: ErrorBody, requestId: string): AnthropicErrorBody {
  const { code } = error;
  const type = isWireErrorCode(code) ? anthropicErrorTypes[code] : error.type;
  return { type: "error", error: { ...error, type }, request_id: requestId };
}
