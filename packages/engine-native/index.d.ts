// The seam between the native engine and TypeScript, written by hand. Only @ingle/engine imports it.
// Arguments are trusted here: @ingle/engine has checked them. Errors have a `code`, and `details` where numbers help.

import type { NativeChat, NativeImageText, NativeReply } from "./chat.d.ts";

export type {
  NativeChat,
  NativeImage,
  NativeImageText,
  NativeMessage,
  NativePart,
  NativeReply,
  NativeTool,
  NativeToolCall,
} from "./chat.d.ts";
export { computeImatrix, planQuantization, quantizeModel } from "./quantize.js";
export type { NativeImatrixOptions, NativeImatrixResult, NativeQuantizeOptions } from "./quantize.js";

export type NativeErrorCode =
  | "invalid_argument"
  | "model_not_found"
  | "model_invalid"
  | "model_unsupported"
  | "out_of_memory"
  | "load_aborted"
  | "template_failed"
  | "context_length_exceeded"
  | "overloaded"
  | "generation_not_supported"
  | "image_not_supported"
  | "projector_mismatch"
  | "embeddings_not_supported"
  | "engine_failed"
  | "disposed";

/** What was compiled in and what this machine offers. */
export interface BuildInfo {
  version: string;
  llamaCpp: { version: string; commit: string };
  /** The GPU backend that was asked for at build time; "cpu" when none. */
  gpu: "cpu" | "cuda" | "metal" | "vulkan";
  compiler: string;
  buildType: string;
  devices: DeviceInfo[];
  /** What ggml's CPU backend was compiled to use here: AVX2, AVX512, NEON, … */
  cpuFeatures: string[];
  /** ggml type names that may hold the KV cache: f16, q8_0, q4_0, … */
  kvTypes: string[];
}

export interface DeviceInfo {
  name: string;
  description: string;
  backend: string;
  type: "cpu" | "gpu" | "igpu" | "accel";
  memoryFree: number;
  memoryTotal: number;
}

export interface NativeLoadOptions {
  /** A GGUF file; for a split model its first part. */
  path: string;
  /** Layers put on the GPU; a negative number means all. */
  gpuLayers: number;
  mmap: boolean;
  mlock: boolean;
  /** What lets the model read pictures; its header was checked. */
  projector: NativeProjector | null;
}

export interface NativeProjector {
  path: string;
  /** Threads that encode pictures, where no GPU does it. */
  threads: number;
  /** Tokens of a picture at least and at most, where that can be chosen; 0 for what the file says. */
  imageMinTokens: number;
  imageMaxTokens: number;
}

/** A load under way. `abort()` makes `model` reject with `load_aborted`; after the end it does nothing. */
export interface NativeLoad {
  model: Promise<NativeModel>;
  abort(): void;
}

export interface NativeModelInfo {
  architecture: string;
  /** `general.name` of the file, or an empty string. */
  name: string;
  /** Quantization as llama.cpp names it, such as "Q4_K_M", "IQ2_XXS", "F16". */
  quantization: string;
  /** Tokens of context that the model was trained for. */
  contextLengthTrain: number;
  vocabularySize: number;
  /** Numbers in the vector of a text. */
  embeddingSize: number;
  layers: number;
  parameters: number;
  /** Bytes of all tensors. */
  sizeBytes: number;
  hasChatTemplate: boolean;
  /** It was loaded with a projector: messages may have pictures. */
  readsImages: boolean;
  /** Stands for a picture in what `applyChatTemplate` writes and `prepareImages` reads. */
  imageMarker: string;
  /** What the chat template does with tools and calls; `isLfm2` when calls look as LFM2 writes them. */
  chatTemplate: { writesTools: boolean; writesToolCalls: boolean; isLfm2: boolean };
  /** Its state cannot be cut in the middle (convolution or state-space layers). */
  isRecurrent: boolean;
  /** Ids of special tokens; -1 where the vocabulary has none. The last three stand around a text with a gap in it. */
  tokens: {
    bos: number;
    eos: number;
    eot: number;
    infillPrefix: number;
    infillSuffix: number;
    infillMiddle: number;
  };
  /** Whether texts begin with `bos`. */
  addsBos: boolean;
}

export interface NativeTemplateResult {
  prompt: string;
  /** Texts at which the template's format ends a turn, beside the model's end tokens. */
  stops: string[];
}

export interface NativePrompt {
  /** Of pictures, negative ids: each stands for a part of one, and is of use only together with `images`. */
  tokens: Int32Array;
  images: NativeImages | null;
  stops: string[];
  constraint: NativeConstraint | null;
  /** Null: the reply is nothing but content. */
  parser: NativeReplyParser | null;
}

/** The pictures of a prompt, scaled for the model and not yet encoded; made by a model for its own engines. */
export interface NativeImages {
  readonly nativeImages: never;
}

/** Knows the syntax in which replies to one prompt come. */
export interface NativeReplyParser {
  readonly nativeReplyParser: never;
}

/** What a reply must look like; made by a model for its own engines. */
export interface NativeConstraint {
  readonly nativeConstraint: never;
}

/** Bytes of tokens in one piece; `ends` says for each where it ends. */
export interface NativePieces {
  bytes: Uint8Array;
  ends: Int32Array;
}

/** Immutable after loading. Its calls run on libuv's worker threads. */
export interface NativeModel {
  readonly info: NativeModelInfo;
  /** With `addSpecial`, a text that begins with the beginning token has it once. */
  tokenize(text: string, options: { addSpecial: boolean; parseSpecial: boolean }): Promise<Int32Array>;
  detokenize(
    tokens: Int32Array,
    options: { removeSpecial: boolean; unparseSpecial: boolean },
  ): Promise<string>;
  /** The bytes of each token, special ones written out; a token may be a part of a character. */
  pieces(tokens: Int32Array): Promise<NativePieces>;
  applyChatTemplate(chat: NativeChat): Promise<NativeTemplateResult>;
  /**
   * Template and tokenization in one crossing: the way of every chat request. Rejects with `template_failed`, and for
   * pictures with `image_not_supported`, `overloaded` or `invalid_argument`.
   */
  prepareChat(chat: NativeChat): Promise<NativePrompt>;
  /** The same for a text with pictures, without a template. Rejects as `prepareChat` for pictures. */
  prepareImages(text: NativeImageText): Promise<Pick<NativePrompt, "tokens" | "images">>;
  /** Reads a GBNF grammar that the whole reply is held to. Rejects with `invalid_argument` and what is wrong with it. */
  prepareGrammar(grammar: string): Promise<NativeConstraint>;
  /** Reads a reply, or its beginning. Null when it is none in this syntax. */
  parseReply(parser: NativeReplyParser, text: string, isPartial: boolean): Promise<NativeReply | null>;
  createEngine(
    options: NativeEngineOptions,
    onEvents: (events: NativeEvent[]) => void,
    /** With `speculation: "draft-model"`; the engine keeps its weights as long as it needs them. */
    draftModel?: NativeModel,
  ): Promise<NativeEngine>;
  /** Frees the weights once the last engine on it is disposed. Idempotent. */
  dispose(): void;
}

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

export type NativeEvent = NativeTextEvent | NativeFinishEvent | NativeEmbeddingEvent | NativeErrorEvent;

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

export function buildInfo(): BuildInfo;
export function loadModel(options: NativeLoadOptions, onProgress: (fraction: number) => void): NativeLoad;

/** What a model would take with these settings. */
export interface NativeMeasure {
  contextLengthTrain: number;
  layers: number;
  /** Bytes by memory; `device` is a name as in `buildInfo()`, empty for the machine's own memory. */
  memories: { device: string; weightsBytes: number; contextBytes: number; computeBytes: number }[];
}

/**
 * Lays a model and its context out without taking memory for them or reading the weights. A context longer than the model
 * was trained for counts as that long, and cells that no request could fill do not count.
 */
export function measureModel(model: NativeLoadOptions, context: NativeContextOptions): Promise<NativeMeasure>;

/** Sends llama.cpp's own log lines to `sink`, or nowhere with null (the default). Level: 1 debug … 4 error. */
export function setLogSink(sink: ((level: number, text: string) => void) | null): void;
export function keepMemoryTight(): void; // of the whole process
