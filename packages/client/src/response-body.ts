// Reads JSON bodies and error bodies without trusting their shape. It does without a schema library to keep the client small
// in a browser.
import { ApiError } from "./errors.ts";
import { parseRetryAfter } from "./retry.ts";

/** Maximum number of characters of an unknown body that an error message quotes. */
const quoteLength = 200;

/** Whether `value` is an object, and not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether `value` is an object with an array in this field. */
export function hasList<Field extends string>(
  value: unknown,
  field: Field,
): value is Record<Field, unknown[]> & Record<string, unknown> {
  return isRecord(value) && Array.isArray(value[field]);
}

/** Whether `value` is an object with a string in this field. */
export function hasText(value: unknown, field: string): value is Record<string, unknown> {
  return isRecord(value) && typeof value[field] === "string";
}

/** Parses JSON; returns `undefined`, which JSON cannot express, for invalid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The fields of an error body; `null` if a field is missing or has another type. */
export interface WireError {
  message: string | null;
  code: string | null;
  type: string | null;
  param: string | null;
  promptTokens: number | undefined;
  contextLength: number | undefined;
}

/** Reads `{ error: { … } }`; returns `undefined` if `body` has no such field. */
export function readWireError(body: unknown): WireError | undefined {
  if (!isRecord(body) || body["error"] === undefined || body["error"] === null) return undefined;
  const error = isRecord(body["error"]) ? body["error"] : { message: body["error"] };
  const text = (field: string) => (typeof error[field] === "string" ? error[field] : null);
  const count = (field: string) => (typeof error[field] === "number" ? error[field] : undefined);
  return {
    message: text("message"),
    code: text("code"),
    type: text("type"),
    param: text("param"),
    promptTokens: count("n_prompt_tokens"),
    contextLength: count("n_ctx"),
  };
}

/** The error for a response with an error status. */
export function errorOfResponse(response: Response, text: string, nowMs: number): ApiError {
  const wire = readWireError(parseJson(text));
  const quote = text.trim().slice(0, quoteLength);
  const message =
    wire?.message ?? `the server responded with ${response.status}${quote === "" ? "" : `: ${quote}`}`;
  return apiError(response, message, nowMs, wire);
}

/** The error for a successful response of another shape than this API's. */
export function unexpectedResponse(response: Response, nowMs: number): ApiError {
  return apiError(
    response,
    `${response.url} did not respond as this API does: is baseUrl correct?`,
    nowMs,
    undefined,
  );
}

function apiError(response: Response, message: string, nowMs: number, wire: WireError | undefined): ApiError {
  return new ApiError(message, {
    status: response.status,
    code: wire?.code ?? null,
    type: wire?.type ?? null,
    param: wire?.param ?? null,
    requestId: response.headers.get("x-request-id"),
    retryAfterMs: parseRetryAfter(response.headers.get("retry-after"), nowMs),
    promptTokens: wire?.promptTokens,
    contextLength: wire?.contextLength,
  });
}
