// Reads what a server answered without trusting its shape: JSON bodies and error bodies. Used by transport.ts and
// chat-stream.ts. There is no schema library here, so that the client stays small in a browser.
import { ApiError } from "./errors.ts";
import { parseRetryAfter } from "./retry.ts";

/** How much of an answer that is not ours is quoted in a message. */
const quoteLength = 200;

/** Whether `value` is an object whose fields can be looked at. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether `value` is an object with a list in this field. */
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

/** Parses JSON; `undefined`, which JSON cannot say, means that the text is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The fields of an error body, each `null` when it is absent or of another type. */
export interface WireError {
  message: string | null;
  code: string | null;
  type: string | null;
  param: string | null;
  promptTokens: number | undefined;
  contextLength: number | undefined;
}

/** Reads `{ error: { … } }`; `undefined` when `body` has no such field. */
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

/** The error for an answer whose status says that the request failed. */
export function errorOfAnswer(response: Response, text: string, nowMs: number): ApiError {
  const wire = readWireError(parseJson(text));
  const quote = text.trim().slice(0, quoteLength);
  const message =
    wire?.message ?? `the server answered ${response.status}${quote === "" ? "" : `: ${quote}`}`;
  return apiError(response, message, nowMs, wire);
}

/** The error for an answer that claims success and is not what was asked for. */
export function unexpectedAnswer(response: Response, nowMs: number): ApiError {
  return apiError(
    response,
    `${response.url} did not give the answer that this API gives: is baseUrl right?`,
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
