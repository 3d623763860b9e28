// The result of a generation, the pieces in which it arrives, and the tokens and the time that it took.
import type { NativeTokenLogprobs } from "../native/addon.ts";
import type { ToolCall } from "../prompt/messages.ts";
import type { ToolCallDelta } from "./reply-reader.ts";

/** Why a reply ended. `stop`: on its own or at a stop string; `length`: at a token limit; `tool_calls`: to have tools called. */
export type FinishReason = "stop" | "length" | "tool_calls";

export interface GenerationResult {
  /** The reply without reasoning and tool calls. */
  text: string;
  /** The reasoning before the reply; empty if there was none. */
  reasoning: string;
  toolCalls: ToolCall[];
  /** For every token of the reply; absent unless requested. */
  logprobs?: readonly TokenLogprobs[];
  /** For every token of the prompt; absent unless requested. */
  promptLogprobs?: readonly PromptTokenLogprobs[];
  finishReason: FinishReason;
  /** The stop string of the request that ended the reply; absent if none did. */
  stop?: string;
  usage: Usage;
  timings: GenerationTimings;
}

/** A piece of the reply. */
export interface GenerationChunk {
  /** Whole characters, never a part of a stop string. May be empty. */
  text: string;
  /** A piece of the reasoning. */
  reasoning?: string;
  /** Pieces of tool calls. */
  toolCalls?: readonly ToolCallDelta[];
  /** The number of tokens in this piece. */
  tokens: number;
  /** For each of these tokens; absent unless requested. */
  logprobs?: readonly TokenLogprobs[];
  /** Set in chunks that only report how much of the prompt is computed; only if requested. */
  prompt?: PromptProgress;
}

/** How much of a prompt is computed, in tokens. */
export interface PromptProgress {
  promptTokens: number;
  /** Tokens from the prefix cache. */
  cachedTokens: number;
  /** Including the cached ones. */
  computedTokens: number;
  /** Milliseconds since the prompt was begun. */
  ms: number;
}

/** The same of a token of the prompt; null for the first one, which the model did not predict. */
export type PromptTokenLogprobs = Omit<TokenLogprobs, "logprob"> & { logprob: number | null };

/** The log probability of a token, and the likeliest tokens at its position, as the model computed them, before all sampling. */
export type TokenLogprobs = NativeTokenLogprobs;

/** Counts of tokens. */
export interface Usage {
  promptTokens: number;
  /** Prompt tokens that stand for audio. */
  audioTokens: number;
  completionTokens: number;
  /** Tokens of the reply that were spent on reasoning, including all tokens of the piece in which the reasoning ends. */
  reasoningTokens: number;
  /** Prompt tokens that came from the prefix cache. */
  cachedTokens: number;
  /**
   * Tokens of the prompt and the reply that context shifts dropped (`contextOverflow: "shift"`). `promptTokens` does not count
   * tokens that were dropped before the prompt was computed.
   */
  droppedTokens: number;
  /** Tokens that were drafted for the reply (speculative decoding). */
  draftedTokens: number;
  /** Drafted tokens that were accepted. */
  acceptedTokens: number;
}

/** Milliseconds, measured on the engine's thread. */
export interface GenerationTimings {
  /** From submission until the prefill began. */
  queueMs: number;
  /** From then until the first token of the reply. */
  promptMs: number;
  /** From the first token of the reply to the last. */
  predictedMs: number;
}
