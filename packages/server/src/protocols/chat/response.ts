// The answer in one piece, when `stream` is not true. Used by routes/chat-completions.ts.
import type { GenerationResult } from "@ingle/engine";
import type { ChatCompletion } from "@ingle/protocol";
import { toTimings, toUsage, type ResponseFields } from "../usage.ts";
import { toLogprobs, toToolCall } from "./choices.ts";

/** One choice for each result, in their order. */
export function toCompletion(head: ResponseFields, results: readonly GenerationResult[]): ChatCompletion {
  return {
    ...head,
    object: "chat.completion",
    choices: results.map((result, index) => ({
      index,
      message: toMessage(result),
      finish_reason: result.finishReason,
      logprobs: result.logprobs === undefined ? null : toLogprobs(result.logprobs),
    })),
    usage: toUsage(results),
    timings: toTimings(results),
  };
}

/** A reply that is nothing but calls has no content, which is not the same as an empty one. */
function toMessage({
  text,
  reasoning,
  toolCalls,
}: GenerationResult): ChatCompletion["choices"][number]["message"] {
  return {
    role: "assistant",
    content: text === "" && toolCalls.length > 0 ? null : text,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(toToolCall) }),
  };
}
