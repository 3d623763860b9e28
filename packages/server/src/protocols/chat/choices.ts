// What the two forms of an answer share of a choice: tool calls and probabilities in wire names. Used by
// to-completion.ts and to-chunks.ts.
import type { TokenLogprobs, ToolCall, ToolCallDelta } from "@ingle/engine";
import type { ChatCompletionChunk, ChoiceLogprobs, ToolCall as WireToolCall } from "@ingle/protocol";
import { toTokenLogprobs } from "../token-logprobs.ts";

type WireDelta = NonNullable<ChatCompletionChunk["choices"][number]["delta"]["tool_calls"]>[number];

export function toToolCall({ id, name, arguments: text }: ToolCall): WireToolCall {
  return { id, type: "function", function: { name, arguments: text } };
}

/** The first part of a call has everything that later ones only add to. */
export function toToolCallDelta({ index, id, name, arguments: fragment }: ToolCallDelta): WireDelta {
  if (id === undefined) return { index, function: { arguments: fragment } };
  return { index, id, type: "function", function: { name, arguments: fragment } };
}

export function toLogprobs(tokens: readonly TokenLogprobs[]): ChoiceLogprobs {
  return { content: toTokenLogprobs(tokens), refusal: null };
}
