// The engine as it crosses the seam to TypeScript: what it is made with, what it is asked for, and the events that come back. A part of
// index.d.ts.
import type { NativeConstraint, NativeErrorCode, NativeImages } from "./index.d.ts";

export interface NativeContextOptions {
  /** Most tokens one sequence may hold. */
  contextLength: number;
  /** Cells of KV cache that all sequences share. At least contextLength. */
  cells: number;
  /** Sequences that run at the same time. */
  parallel: number;
  /** Most tokens in one turn while nothing else is decoding. */
  batchTokens: number;
  threads: number;
  threadsBatch: number;
  /** Of `BuildInfo.kvTypes`. What the model's heads, a device or flash attention do not allow is `invalid_argument`. */
  kvTypeK: string;
  kvTypeV: string;
  /** "auto" lets llama.cpp choose by backend. */
  flashAttention: "auto" | "on" | "off";
}

export interface NativeEngineOptions extends NativeContextOptions {
  /** Most prompt tokens in one turn beside decoding sequences; 0 lets the engine find the number by measuring. */
  batchTokensBusy: number;
  /** Requests that may wait; one more is refused with `overloaded`. */
  waitingMax: number;
  /** What happens when a chat is too long for the context: it ends there, or its oldest turns are dropped. */
  contextOverflow: "length" | "shift";
  /** Guesses tokens from the text before them, or by a draft model; not where `isRecurrent`. */
  speculation: "off" | "ngram" | "draft-model";
  /** Most tokens that a draft model guesses in one turn. */
  draftTokens: number;
  /** Host memory for state that is evicted from the context, in bytes; 0 keeps none. */
  cacheRamBytes: number;
  /** A file that keeps that memory from one engine to the next; "" for none. What is damaged or not ours is ignored. */
  stateFile: string;
  /** 32 bytes that stand for all that must be the same for a state to be of use. */
  stateKey: Uint8Array;
  /** Tokens of the blocks that `reportBlocks` tells of; 0 tells of none. */
  kvBlockTokens: number;
  /** 8 bytes that are part of every block's hash. */
  kvBlockSeed: Uint8Array;
}

/** Sampling as the field's names have it; every value is already checked. */
export interface NativeSampling {
  temperature: number;
  topK: number;
  topP: number;
  minP: number;
  repeatPenalty: number;
  repeatLastN: number;
  presencePenalty: number;
  frequencyPenalty: number;
  seed: number;
  /** Pairs of token id and bias, flat: [id, bias, id, bias, …]. -Infinity bans the token. */
  logitBias: Float64Array;
}

export interface NativeRequest {
  tokens: Int32Array;
  /** Those of the prompt that the tokens come from. */
  images: NativeImages | null;
  sampling: NativeSampling;
  /** Most tokens to generate; -1 for up to the context's end, or with `shift` up to four contexts. */
  maxTokens: number;
  stops: string[];
  ignoreEos: boolean;
  /** Shares its beginning with requests before and after it. */
  cachePrompt: boolean;
  /** Null: any text. */
  constraint: NativeConstraint | null;
  /** How many of the likeliest tokens are told for each token, up to 20; -1 tells no probabilities at all. */
  logprobs: number;
  /** Requests with the same key are served first come, first served; different keys share fairly. */
  client: string;
}

/** Owns the context and the one thread that may touch it. Its calls return at once. */
export interface NativeEngine {
  /**
   * Puts a request in line and returns its id. Throws `overloaded`, `context_length_exceeded`,
   * `generation_not_supported`, `disposed`.
   */
  submit(request: NativeRequest): number;
  /**
   * The same for the vectors of 1 to 2,048 texts: the last event has all of them. Throws `overloaded`,
   * `context_length_exceeded`, `embeddings_not_supported`, `disposed`.
   */
  embed(texts: readonly Int32Array[]): number;
  /** Ends a request in whatever state it is: its last event is a finish with reason "cancelled". Unknown ids are ignored. */
  cancel(id: number): void;
  /**
   * Asks for one report of the blocks that can be reused, which comes as soon as there is something to tell: what has changed
   * since the one before, or all of it anew.
   */
  reportBlocks(isAnew: boolean): void;
  stats(): NativeStats;
  /** Ends every request with `disposed`, joins the thread, frees the context. Idempotent; resolves when done. */
  dispose(): Promise<void>;
}

export interface NativeStats {
  running: number;
  waiting: number;
  cells: number;
  /** What a cell takes of the KV cache, in bytes: keys and values of a token in all layers. */
  cellBytes: number;
  /** Cells that running requests hold or have reserved. */
  cellsUsed: number;
  /** Cells kept for requests that begin like earlier ones; given up when they are needed. */
  cellsCached: number;
  turns: number;
  promptTokens: number;
  generatedTokens: number;
  /** Pictures, or tiles of them, that were encoded. */
  imagesEncoded: number;
  preemptions: number;
  /** Times that a running request filled the context and dropped its oldest turns. */
  contextShifts: number;
  /** Tokens that were guessed and computed, and those of them that were right. */
  draftedTokens: number;
  acceptedTokens: number;
  /** Host memory that holds evicted state, and in how many pieces. */
  cacheRamBytes: number;
  cacheRamPieces: number;
  /** Pieces that were copied back instead of being computed again. */
  cacheRamHits: number;
}

/** What happens to one request. */
export type NativeEvent = NativeTextEvent | NativeFinishEvent | NativeEmbeddingEvent | NativeErrorEvent;

/**
 * Blocks of tokens whose state another request could reuse: what has changed since the report before. The removed ones go
 * first. `isRestated`: nothing of before holds any longer.
 */
export interface NativeBlocksEvent {
  type: "blocks";
  isRestated: boolean;
  removed: Record<NativeBlockMedium, BigUint64Array>;
  /** Parents before children. */
  stored: NativeStoredBlocks[];
}

/** In the context, or in host memory, from where it is copied back. */
export type NativeBlockMedium = "device" | "host";

/** Blocks that follow each other. */
export interface NativeStoredBlocks {
  medium: NativeBlockMedium;
  /** Of the block before the first one; 0n where that begins the text. */
  parent: bigint;
  hashes: BigUint64Array;
  /** Of all of them, one after the other. */
  tokens: Int32Array;
}

/** Some text of a generation: whole characters, no part of a stop string. `tokens` counts the tokens behind it. */
export interface NativeTextEvent {
  id: number;
  type: "text";
  text: string;
  tokens: number;
  /** Of the tokens behind this text; absent unless the request asked for them. */
  logprobs?: NativeTokenLogprobs[];
}

/** A token's bytes, which may be a part of a character, and the natural logarithm of its probability. */
export interface NativeTokenLogprob {
  bytes: Uint8Array;
  logprob: number;
}

/** Of one token, and of the likeliest in its place, from the logits as the model gave them. */
export interface NativeTokenLogprobs extends NativeTokenLogprob {
  top: NativeTokenLogprob[];
}

/** The last event of a request. Milliseconds are measured on the engine's thread. */
export interface NativeFinishEvent {
  id: number;
  type: "finish";
  reason: "stop" | "length" | "cancelled";
  /** The stop string that ended the reply; empty when none did. */
  stop: string;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  /** Tokens of prompt and reply that were dropped because the context was full; promptTokens are without those. */
  droppedTokens: number;
  /** Tokens of the reply that were guessed and computed, and those of them that were right. */
  draftedTokens: number;
  acceptedTokens: number;
  /** From submission to the first prompt token's computation. */
  queueMs: number;
  promptMs: number;
  predictedMs: number;
}

/** The last event of a request for embeddings. */
export interface NativeEmbeddingEvent {
  id: number;
  type: "embeddings";
  /** One vector of `embeddingSize` numbers after the other. As the model gives them: not normalized. */
  vectors: Float32Array;
  promptTokens: number;
  /** From submission until the first text was begun, and from then to the last one's end. */
  queueMs: number;
  computeMs: number;
}

/** The last event of a request that failed. */
export interface NativeErrorEvent {
  id: number;
  type: "error";
  code: NativeErrorCode;
  message: string;
}
