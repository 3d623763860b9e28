// The conventions of all routes of LM Studio's API v1: the form of errors.
import type { ErrorBody, LmStudioError } from "@ingle/protocol";

/** The `code` is ours; `param` is omitted if unknown. */
export function toLmStudioError({ error }: ErrorBody): LmStudioError {
  const { message, code, param } = error;
  return { error: { type: errorType(error), message, code, ...(param === null ? {} : { param }) } };
}

function errorType({ code, type, param }: ErrorBody["error"]): LmStudioError["error"]["type"] {
  if (code === "model_not_found") return "model_not_found";
  if (code === "not_found" && param === "job_id") return "job_not_found";
  if (type === "invalid_request_error") return "invalid_request";
  return type === "server_error" ? "internal_error" : "unknown";
}
