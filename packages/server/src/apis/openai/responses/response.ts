// The Response object of /v1/responses: the settings of the request, and its result.
import type { GenerationResult } from "@ingle/engine";
import type {
  ErrorBody,
  ResponseObject,
  ResponsesRequest,
  ResponsesTextFormat,
  ResponsesUsage,
} from "@ingle/protocol";
import { toUsage } from "../../../generation/usage.ts";
import { toShownTools } from "./tools.ts";

type Outcome = "status" | "output" | "usage" | "error" | "incomplete_details" | "completed_at";

/** The data that all events of a response share. */
export type ResponseBase = Omit<ResponseObject, Outcome>;

/** Absent settings get the defaults that the response is generated with. */
export function toResponseBase(
  body: ResponsesRequest,
  fields: Pick<ResponseObject, "id" | "created_at" | "model" | "store">,
): ResponseBase {
  return {
    ...fields,
    object: "response",
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    temperature: body.temperature ?? 1,
    top_p: body.top_p ?? 1,
    top_logprobs: body.top_logprobs ?? 0,
    text: { format: toFormat(body.text?.format) },
    tools: toShownTools(body.tools),
    tool_choice: body.tool_choice ?? "auto",
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    reasoning: { effort: body.reasoning?.effort ?? null, summary: body.reasoning?.summary ?? null },
    truncation: body.truncation ?? "disabled",
    metadata: body.metadata ?? {},
    user: body.user ?? null,
    safety_identifier: body.safety_identifier ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    service_tier: "default",
    background: body.background ?? false,
    previous_response_id: body.previous_response_id ?? null,
    conversation: body.conversation === undefined ? null : { id: body.conversation },
  };
}

function toFormat(format: ResponsesTextFormat | undefined): ResponseObject["text"]["format"] {
  if (format?.type !== "json_schema") return { type: format?.type ?? "text" };
  const { type, name = null, schema, strict = null } = format;
  return { type, name, schema, strict };
}

/** A response that is in progress, or that `rest` says has failed. */
export function toUnfinished(
  base: ResponseBase,
  rest: Pick<ResponseObject, "status" | "output"> & Partial<Pick<ResponseObject, "error">>,
): ResponseObject {
  return { ...base, completed_at: null, error: null, incomplete_details: null, usage: null, ...rest };
}

interface Finish {
  output: ResponseObject["output"];
  /** Unix seconds. */
  completedAt: number;
}

export function toFinished(
  base: ResponseBase,
  result: GenerationResult,
  { output, completedAt }: Finish,
): ResponseObject {
  const isCut = result.finishReason === "length";
  return {
    ...base,
    status: isCut ? "incomplete" : "completed",
    completed_at: isCut ? null : completedAt,
    error: null,
    incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
    output,
    usage: toResponsesUsage(result),
  };
}

function toResponsesUsage(result: GenerationResult): ResponsesUsage {
  const { prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details, completion_tokens_details } =
    toUsage([result]);
  return {
    input_tokens: prompt_tokens,
    input_tokens_details: { cached_tokens: prompt_tokens_details.cached_tokens, cache_write_tokens: 0 },
    output_tokens: completion_tokens,
    output_tokens_details: { reasoning_tokens: completion_tokens_details.reasoning_tokens },
    total_tokens,
  };
}

/** The API has few error codes for a failed response; the stream's last event has ours. */
export function toResponseError({ type, message }: ErrorBody["error"]): ResponseObject["error"] {
  return { code: codeOfType.get(type) ?? "server_error", message };
}

const codeOfType = new Map([
  ["invalid_request_error", "invalid_prompt"],
  ["rate_limit_error", "rate_limit_exceeded"],
]);
