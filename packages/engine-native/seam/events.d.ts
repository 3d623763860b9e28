// What an engine reports at the seam to TypeScript: the events of requests, blocks of the KV cache, bytes of memory.
import type { NativeErrorCode } from "./process.d.ts";

/** Bytes in one memory. */
export interface NativeMemoryBytes {
  /** Empty for host memory. */
  device: string;
  bytes: number;
}

/** A memory limit in bytes: for each memory (a memory that is not listed is unlimited) and for all together. */
export interface NativeMemoryLimits {
  memories: NativeMemoryBytes[];
  totalBytes: number;
}

/** An event of one request. */
export type NativeEvent =
  | NativePromptEvent
  | NativeTextEvent
  | NativeFinishEvent
  | NativeEmbeddingEvent
  | NativeErrorEvent;

/**
 * The blocks of tokens whose state other requests can reuse, as changes since the last report. Apply `removed` before `stored`.
 * With `isRestated`, discard everything reported before.
 */
export interface NativeBlocksEvent {
  type: "blocks";
  isRestated: boolean;
  removed: Record<NativeBlockMedium, BigUint64Array>;
  /** Parents before children. */
  stored: NativeStoredBlocks[];
}

/** Where a block is stored: in the context, or in the host KV tier. */
export type NativeBlockMedium = "device" | "host";

/** Consecutive blocks of one text. */
export interface NativeStoredBlocks {
  medium: NativeBlockMedium;
  /** Hash of the block before the first one; 0n if the first one starts the text. */
  parent: bigint;
  hashes: BigUint64Array;
  /** The tokens of all blocks, concatenated. */
  tokens: Int32Array;
}

/**
 * Progress of a prompt, for a request with `reportsPrompt` or `promptLogprobs`. The first one comes when the prompt is begun, the last
 * one before the first text.
 */
export interface NativePromptEvent {
  id: number;
  type: "prompt";
  promptTokens: number;
  cachedTokens: number;
  /** Including the cached ones. */
  computedTokens: number;
  /** Milliseconds since the prompt was begun. */
  ms: number;
  /** Log probabilities of the next tokens of the prompt, NaN for the first one; absent unless requested. */
  logprobs?: NativeTokenLogprobs[];
}

/** Generated text: whole characters, no part of a stop string. `tokens` counts the tokens that it was decoded from. */
export interface NativeTextEvent {
  id: number;
  type: "text";
  text: string;
  tokens: number;
  /** Log probabilities of those tokens; absent unless the request asked for them. */
  logprobs?: NativeTokenLogprobs[];
}

/** A token with its bytes, which may be a part of a character, and the natural logarithm of its probability. */
export interface NativeTokenLogprob {
  id: number;
  bytes: Uint8Array;
  logprob: number;
}

/** The log probabilities of a token and of the likeliest tokens in its place, from the model's own logits. */
export interface NativeTokenLogprobs extends NativeTokenLogprob {
  top: NativeTokenLogprob[];
}

/** The last event of a request. Milliseconds are measured on the engine's thread. */
export interface NativeFinishEvent {
  id: number;
  type: "finish";
  reason: "stop" | "length" | "cancelled";
  /** The stop string that ended the reply; empty if none did. */
  stop: string;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  /** Those of thoughts, with the marks that end them; 0 if the request has no `thought.ends`. */
  reasoningTokens: number;
  /** Tokens of prompt and reply that were dropped because the context was full; promptTokens excludes them. */
  droppedTokens: number;
  /** Number of draft tokens verified for the reply, and how many of them were accepted. */
  draftedTokens: number;
  acceptedTokens: number;
  /** From submission until the first prompt token is computed. */
  queueMs: number;
  promptMs: number;
  predictedMs: number;
}

/** The last event of a request for embeddings. */
export interface NativeEmbeddingEvent {
  id: number;
  type: "embeddings";
  /** Vectors of `embeddingSize` numbers, concatenated; not normalized. For a reranker, one score per pair. */
  vectors: Float32Array;
  promptTokens: number;
  /** Milliseconds from submission until the first text is started, and from then until the last one is done. */
  queueMs: number;
  computeMs: number;
}

/** The last event of a request that failed. */
export interface NativeErrorEvent {
  id: number;
  type: "error";
  code: NativeErrorCode;
  message: string;
  /** Only for an engine in its own process, whose `submit` cannot throw. */
  details?: Readonly<Record<string, string | number>> | undefined;
  /** What `out_of_memory` needed; absent unless more than the limits of `embed` allowed. */
  neededMemory?: readonly NativeMemoryBytes[];
}
