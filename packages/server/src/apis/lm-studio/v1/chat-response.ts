// The response to a chat request in LM Studio's API v1.
import type { GenerationResult } from "@ingle/engine";
import type { LmStudioChatRequest, LmStudioChatResponse, LmStudioOutputItem } from "@ingle/protocol";
import type { RunningRequest } from "../../../generation/generation-route.ts";
import { toTimings } from "../../../generation/usage.ts";
import type { ChatEvents } from "./chat-events.ts";
import { secondsToFirstToken } from "../v0/additions.ts";

type Running = RunningRequest<LmStudioChatRequest>;

/** `waitsForLoad`: whether the request had to wait for its model to be loaded. */
export function toChatResponse(
  { head, startedAt, leasedAt }: Running,
  result: GenerationResult,
  { waitsForLoad }: { waitsForLoad: boolean },
): LmStudioChatResponse {
  const { text, reasoning, usage } = result;
  const thought: LmStudioOutputItem[] = reasoning === "" ? [] : [{ type: "reasoning", content: reasoning }];
  const said: LmStudioOutputItem[] =
    text === "" && reasoning !== "" ? [] : [{ type: "message", content: text }];
  return {
    model_instance_id: head.model,
    output: [...thought, ...said],
    stats: {
      input_tokens: usage.promptTokens,
      total_output_tokens: usage.completionTokens,
      reasoning_output_tokens: usage.reasoningTokens,
      tokens_per_second: toTimings([result]).predicted_per_second,
      time_to_first_token_seconds: secondsToFirstToken(result),
      ...(waitsForLoad ? { model_load_time_seconds: (leasedAt - startedAt) / 1000 } : {}),
    },
  };
}

/** The response of a stream that an error has ended. It is not kept. */
export function cutResponse({ head, generation }: Running, events: ChatEvents): LmStudioChatResponse {
  return {
    model_instance_id: head.model,
    output: events.output.map((item) => ({ ...item })),
    stats: {
      input_tokens: generation.promptTokens ?? 0,
      total_output_tokens: events.tokens,
      reasoning_output_tokens: 0,
      tokens_per_second: 0,
      time_to_first_token_seconds: 0,
    },
  };
}
