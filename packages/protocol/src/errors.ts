// The only table of error codes, with their HTTP statuses and types, and the body of every error.
import { z } from "zod";

import { responseObject } from "./fields/field.ts";

/**
 * Every error code, its HTTP status and its `type`, and the type for Anthropic's clients if it differs. Those have no type for
 * some statuses, which get a type that clients handle in the same way. `client_closed` only appears in the log, because its
 * client is gone.
 */
export const wireErrors = {
  invalid_request: { status: 400, type: "invalid_request_error" },
  invalid_json: { status: 400, type: "invalid_request_error" },
  context_length_exceeded: { status: 400, type: "invalid_request_error" },
  image_invalid: { status: 400, type: "invalid_request_error" },
  document_invalid: { status: 400, type: "invalid_request_error" },
  image_not_supported: { status: 400, type: "invalid_request_error" },
  audio_invalid: { status: 400, type: "invalid_request_error" },
  audio_not_supported: { status: 400, type: "invalid_request_error" },
  generation_not_supported: { status: 400, type: "invalid_request_error" },
  reranking_not_supported: { status: 400, type: "invalid_request_error" },
  embeddings_not_supported: { status: 400, type: "invalid_request_error" },
  unauthorized: { status: 401, type: "authentication_error" },
  forbidden: { status: 403, type: "permission_error" },
  not_found: { status: 404, type: "not_found_error" },
  model_not_found: { status: 404, type: "not_found_error" },
  method_not_allowed: { status: 405, type: "invalid_request_error" },
  cancelled: { status: 410, type: "cancelled_error", anthropicType: "invalid_request_error" },
  payload_too_large: { status: 413, type: "invalid_request_error", anthropicType: "request_too_large" },
  unsupported_media_type: { status: 415, type: "invalid_request_error" },
  overloaded: { status: 429, type: "rate_limit_error", anthropicType: "overloaded_error" },
  rate_limited: { status: 429, type: "rate_limit_error" },
  client_closed: { status: 499, type: "client_closed_error", anthropicType: "api_error" },
  internal: { status: 500, type: "server_error", anthropicType: "api_error" },
  engine_failed: { status: 500, type: "server_error", anthropicType: "api_error" },
  hub_unreachable: { status: 502, type: "unavailable_error", anthropicType: "api_error" },
  not_enabled: { status: 501, type: "not_supported_error", anthropicType: "api_error", isFinal: true },
  disk_full: { status: 507, type: "server_error", anthropicType: "api_error", isFinal: true },
  model_loading: { status: 503, type: "unavailable_error", anthropicType: "overloaded_error" },
  out_of_memory: { status: 503, type: "unavailable_error", anthropicType: "overloaded_error" },
  shutting_down: { status: 503, type: "unavailable_error", anthropicType: "overloaded_error" },
  engine_crashed: { status: 503, type: "unavailable_error", anthropicType: "overloaded_error" },
  worker_lost: { status: 503, type: "unavailable_error", anthropicType: "overloaded_error" },
  worker_unreachable: { status: 503, type: "unavailable_error", anthropicType: "overloaded_error" },
  worker_refused: { status: 503, type: "unavailable_error", anthropicType: "overloaded_error" },
} as const satisfies Record<string, WireErrorKind>;

interface WireErrorKind {
  status: number;
  /** The family of a code, as existing clients know it. */
  type: string;
  anthropicType?: string;
  /** Whether clients that would retry after such a status are told not to. */
  isFinal?: boolean;
}

/** What went wrong, for programs; messages may change. */
export type WireErrorCode = keyof typeof wireErrors;

export function isWireErrorCode(value: unknown): value is WireErrorCode {
  return typeof value === "string" && Object.hasOwn(wireErrors, value);
}

/** Whether the same request would fail again, although clients retry after its status. */
export function isFinalError(code: WireErrorCode): boolean {
  const { isFinal = false }: WireErrorKind = wireErrors[code];
  return isFinal;
}

/** The `type` of a code for Anthropic's clients. */
export function anthropicErrorType(code: WireErrorCode): string {
  const { type, anthropicType = type }: WireErrorKind = wireErrors[code];
  return anthropicType;
}

/** The body of every error response, and the data of an error event inside a stream. */
export const ErrorBody = responseObject("ErrorBody", {
  error: z.object({
    message: z.string().describe("What is wrong and what to do, in a sentence for people."),
    type: z.string().describe("The family of the code."),
    param: z.string().nullable().describe("The wrong field of the request, or null."),
    code: z.string().describe("What went wrong, for programs; docs/errors.md lists them."),
    n_prompt_tokens: z.int().optional().describe("With context_length_exceeded: tokens of the prompt."),
    n_ctx: z
      .int()
      .optional()
      .describe("With context_length_exceeded: the maximum number of tokens per request."),
    progress: z.number().optional().describe("With model_loading: how much is loaded, 0 to 1."),
  }),
});
export type ErrorBody = z.infer<typeof ErrorBody>;

/** Of something that failed by itself, beside its `error`. */
export const errorCodeField = z
  .string()
  .nullable()
  .describe("The code of that error, as docs/errors.md lists them; null without one.");

/** The optional fields of an error body; an absent `param` is `null`. */
export type ErrorBodyDetails = {
  [Field in "param" | "n_prompt_tokens" | "n_ctx" | "progress"]?: ErrorBody["error"][Field] | undefined;
};

/** The body for a code, with its `type` from the table. */
export function errorBody(code: WireErrorCode, message: string, details: ErrorBodyDetails = {}): ErrorBody {
  const { param = null, n_prompt_tokens, n_ctx, progress } = details;
  return {
    error: {
      message,
      type: wireErrors[code].type,
      param,
      code,
      ...(n_prompt_tokens === undefined ? {} : { n_prompt_tokens }),
      ...(n_ctx === undefined ? {} : { n_ctx }),
      ...(progress === undefined ? {} : { progress }),
    },
  };
}
