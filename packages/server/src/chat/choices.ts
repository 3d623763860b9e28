// What the two forms of an answer share of a choice: tool calls and probabilities in wire names. Used by
// to-completion.ts and to-chunks.ts.
import type { TokenLogprobs, ToolCall, ToolCallDelta } from "@ingle/engine";
import type { ChatCompletionChunk, ChoiceLogprobs, ToolCall as WireToolCall } from "@ingle/protocol";

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
  return {
    content: tokens.map(({ top, ...chosen }) => ({ ...toToken(chosen), top_logprobs: top.map(toToken) })),
    refusal: null,
  };
}

function toToken({ bytes, logprob }: Omit<TokenLogprobs, "top">): {
  token: string;
  logprob: number;
  bytes: number[];
} {
  return { token: decoder.decode(bytes), logprob, bytes: [...bytes] };
}

const decoder = new TextDecoder();
