// The complete response to a messages request, and the parts that it shares with the events.
import type { FinishReason, GenerationResult, ToolCall } from "@ingle/engine";
import type { ContentBlock, AnthropicMessage, MessageUsage, StopReason } from "@ingle/protocol";
import { parseJsonObject } from "@ingle/protocol/json-shape";
import type { ResponseHead } from "../../generation/usage.ts";

export type MessageHead = Pick<ResponseHead, "id" | "model">;

export interface MessageForm {
  /** Blocks of thinking come without their text. Default false. */
  omitsThinking?: boolean;
}

export function toMessage(
  head: MessageHead,
  result: GenerationResult,
  form: MessageForm = {},
): AnthropicMessage {
  const content = toBlocks(result, form);
  return { ...emptyMessage(head), content, ...toStop(result), usage: toMessageUsage(result) };
}

/** A message that has just begun. */
export function begunMessage(
  head: MessageHead,
  prompt: { promptTokens: number; cachedTokens: number },
): AnthropicMessage {
  const usage = toUsage({ ...prompt, completionTokens: 0 });
  return { ...emptyMessage(head), content: [], stop_reason: null, stop_sequence: null, usage };
}

export function toStop({ finishReason, stop }: GenerationResult): {
  stop_reason: StopReason;
  stop_sequence: string | null;
} {
  if (finishReason === "stop" && stop !== undefined)
    return { stop_reason: "stop_sequence", stop_sequence: stop };
  return { stop_reason: stopReasons[finishReason], stop_sequence: null };
}

export function toMessageUsage({ usage }: GenerationResult): MessageUsage {
  return toUsage(usage);
}

const stopReasons = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
} as const satisfies Record<FinishReason, StopReason>;

function emptyMessage({ id, model }: MessageHead) {
  return { id, type: "message", role: "assistant", model } as const;
}

function toUsage(usage: {
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
}): MessageUsage {
  return {
    input_tokens: usage.promptTokens - usage.cachedTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cachedTokens,
    output_tokens: usage.completionTokens,
  };
}

function toBlocks(
  { reasoning, text, toolCalls }: GenerationResult,
  { omitsThinking = false }: MessageForm,
): ContentBlock[] {
  const thinking = omitsThinking ? "" : reasoning;
  return [
    ...(reasoning === "" ? [] : [{ type: "thinking" as const, thinking, signature: "" }]),
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...toolCalls.flatMap(toToolUse),
  ];
}

/** A call that a limit has cut off lacks complete input and is omitted: nobody should run it. */
function toToolUse({ id, name, arguments: text }: ToolCall): ContentBlock[] {
  const input = parseJsonObject(text);
  return input === undefined ? [] : [{ type: "tool_use", id, name, input }];
}
