// The one table of wire errors: which code has which HTTP status and which type, and the body every error has.
// The server's error plugin answers by it; the client takes its types from it.
import { z } from "zod";

/**
 * Every error code the service answers with, its HTTP status and its `type`. A status number stands nowhere else.
 * `client_closed` is only ever logged: nobody is left to read it.
 */
export const wireErrors = {
  invalid_request: { status: 400, type: "invalid_request_error" },
  invalid_json: { status: 400, type: "invalid_request_error" },
  context_length_exceeded: { status: 400, type: "invalid_request_error" },
  image_invalid: { status: 400, type: "invalid_request_error" },
  image_not_supported: { status: 400, type: "invalid_request_error" },
  generation_not_supported: { status: 400, type: "invalid_request_error" },
  embeddings_not_supported: { status: 400, type: "invalid_request_error" },
  unauthorized: { status: 401, type: "authentication_error" },
  forbidden: { status: 403, type: "permission_error" },
  not_found: { status: 404, type: "not_found_error" },
  model_not_found: { status: 404, type: "not_found_error" },
  method_not_allowed: { status: 405, type: "invalid_request_error" },
  cancelled: { status: 410, type: "cancelled_error" },
  payload_too_large: { status: 413, type: "invalid_request_error" },
  unsupported_media_type: { status: 415, type: "invalid_request_error" },
  overloaded: { status: 429, type: "rate_limit_error" },
  rate_limited: { status: 429, type: "rate_limit_error" },
  client_closed: { status: 499, type: "client_closed_error" },
  internal: { status: 500, type: "server_error" },
  engine_failed: { status: 500, type: "server_error" },
  model_loading: { status: 503, type: "unavailable_error" },
  out_of_memory: { status: 503, type: "unavailable_error" },
  shutting_down: { status: 503, type: "unavailable_error" },
  worker_lost: { status: 503, type: "unavailable_error" },
  worker_unreachable: { status: 503, type: "unavailable_error" },
  worker_refused: { status: 503, type: "unavailable_error" },
  timeout: { status: 504, type: "timeout_error" },
} as const satisfies Record<string, { status: number; type: string }>;

/** What went wrong, for programs: test by this, never by the message. */
export type WireErrorCode = keyof typeof wireErrors;

/** The family of a code, as existing clients of the convention know it. */
export type WireErrorType = (typeof wireErrors)[WireErrorCode]["type"];

/** Whether `value` is one of our codes. */
export function isWireErrorCode(value: unknown): value is WireErrorCode {
  return typeof value === "string" && Object.hasOwn(wireErrors, value);
}

/** The body of every answer that is an error, and the data of an error event inside a stream. */
export const ErrorBody = z
  .object({
    error: z.object({
      message: z.string().meta({ description: "A sentence for a person: what is wrong and what to do." }),
      type: z.string().meta({ description: "The family of the code." }),
      param: z.string().nullable().meta({ description: "The request's field that is wrong, or null." }),
      code: z.string().meta({ description: "What went wrong, for programs; docs/errors.md lists them." }),
      n_prompt_tokens: z
        .int()
        .optional()
        .meta({ description: "With context_length_exceeded: tokens of the prompt." }),
      n_ctx: z
        .int()
        .optional()
        .meta({ description: "With context_length_exceeded: tokens one request may hold." }),
      progress: z
        .number()
        .optional()
        .meta({ description: "With model_loading: how far the model is, 0 to 1." }),
    }),
  })
  .meta({ id: "ErrorBody" });
export type ErrorBody = z.infer<typeof ErrorBody>;

/** What an error may say beside its code and message. */
export interface ErrorBodyDetails {
  /** The request's field that is wrong. */
  param?: string | undefined;
  /** Tokens of the prompt that did not fit. */
  n_prompt_tokens?: number | undefined;
  /** Tokens that one request may hold. */
  n_ctx?: number | undefined;
  /** How far a model is loaded: 0 … 1. */
  progress?: number | undefined;
}

/** Builds the body for a code; `type` comes from the table and an absent `param` is `null`. */
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
