// The answer in one piece, when `stream` is not true. Used by routes/chat-completions.ts.
import type { GenerationResult } from "@ingle/engine";
import type { ChatCompletion } from "@ingle/protocol";
import { toTimings, toUsage, type AnswerHead } from "./answer.ts";

export function toCompletion(head: AnswerHead, result: GenerationResult): ChatCompletion {
  return {
    ...head,
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: result.text },
        finish_reason: result.finishReason,
        logprobs: null,
      },
    ],
    usage: toUsage(result),
    timings: toTimings(result),
  };
}
