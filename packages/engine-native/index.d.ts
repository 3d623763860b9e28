// The seam between the native engine and TypeScript, written by hand. Only @ingle/engine imports it.
// Arguments are trusted here: @ingle/engine has checked them. Errors have a `code`, and `details` where numbers help or
// one option is wrong (`param`).

import type { NativeChat, NativeImageText, NativeReply } from "./chat.d.ts";
import type {
  NativeBlocksEvent,
  NativeContextOptions,
  NativeEngine,
  NativeEngineOptions,
  NativeEvent,
} from "./engine.d.ts";

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
export type {
  NativeBlockMedium,
  NativeBlocksEvent,
  NativeContextOptions,
  NativeEmbeddingEvent,
  NativeEngine,
  NativeEngineOptions,
  NativeErrorEvent,
  NativeEvent,
  NativeFinishEvent,
  NativeRequest,
  NativeSampling,
  NativeStats,
  NativeStoredBlocks,
  NativeTextEvent,
  NativeTokenLogprob,
  NativeTokenLogprobs,
} from "./engine.d.ts";
export { computeImatrix, planQuantization, quantizeModel } from "./quantize.js";
export type { NativeImatrixOptions, NativeImatrixResult, NativeQuantizeOptions } from "./quantize.js";

export type NativeErrorCode =
  | "invalid_argument"
  | "model_not_found"
  | "model_invalid"
  | "model_unsupported"
  | "out_of_memory"
  | "aborted"
  | "template_failed"
  | "context_length_exceeded"
  | "overloaded"
  | "generation_not_supported"
  | "image_not_supported"
  | "projector_mismatch"
  | "embeddings_not_supported"
  | "engine_failed"
  | "worker_lost"
  | "disposed";

/** What was compiled in and what this machine offers. */
export interface BuildInfo {
  version: string;
  /** `sources` names what was compiled, patches and added files included: the commit says nothing of those. */
  llamaCpp: { version: string; commit: string; sources: string };
  /** The GPU backend that was asked for at build time; "cpu" when none. */
  gpu: "cpu" | "cuda" | "metal" | "vulkan";
  /** The processor that was asked for at build time: "native", or a level of x86-64. */
  cpu: string;
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
  /** Machines that hold layers, before the GPUs of this one. They stay connected until the model is disposed. */
  workers: NativeWorker[];
}

export interface NativeProjector {
  path: string;
  /** Threads that encode pictures, where no GPU does it. */
  threads: number;
  /** Tokens of a picture at least and at most, where that can be chosen; 0 for what the file says. */
  imageMinTokens: number;
  imageMaxTokens: number;
}

/** A load under way. `abort()` makes `model` reject with `aborted`; after the end it does nothing. */
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
  /**
   * What the chat template does with tools and calls. `isLfm2`: calls look as LFM2 writes them. `holdsFormOrCalls`: a reply in
   * its own syntax can be held to a form or to calls, and the calls to their tools.
   */
  chatTemplate: {
    writesTools: boolean;
    writesToolCalls: boolean;
    isLfm2: boolean;
    holdsFormOrCalls: boolean;
  };
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

/** A prompt in the making. `abort()` makes `prompt` reject with `aborted`; after the end it does nothing. */
export interface NativePreparation {
  prompt: Promise<NativePrompt>;
  abort(): void;
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
   * Template and tokenization in one crossing: the way of every chat request. The prompt rejects with `template_failed`,
   * and for pictures with `image_not_supported`, `overloaded` or `invalid_argument`.
   */
  prepareChat(chat: NativeChat): NativePreparation;
  /** The same for a text with pictures, without a template. Rejects as `prepareChat` for pictures. */
  prepareImages(text: NativeImageText): Promise<Pick<NativePrompt, "tokens" | "images">>;
  /** Reads a GBNF grammar that the whole reply is held to. Rejects with `invalid_argument` and what is wrong with it. */
  prepareGrammar(grammar: string): Promise<NativeConstraint>;
  /** Reads a reply, or its beginning. Null when it is none in this syntax. */
  parseReply(parser: NativeReplyParser, text: string, isPartial: boolean): Promise<NativeReply | null>;
  createEngine(
    options: NativeEngineOptions,
    onEvents: (events: (NativeEvent | NativeBlocksEvent)[]) => void,
    /** With `speculation: "draft-model"`; the engine keeps its weights as long as it needs them. */
    draftModel?: NativeModel,
  ): Promise<NativeEngine>;
  /** Frees the weights once the last engine on it is disposed. Idempotent. */
  dispose(): void;
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

/** A connection to a worker; made by `connectWorker` for its loads. */
export interface NativeWorker {
  readonly nativeWorker: never;
}

/**
 * Attaches a worker over a socket of which `fd` is the other end: JavaScript carries its bytes. `name` is the worker's name in
 * this process: one that offers the same as before has the same. An answer that takes longer than `replyMsMax` loses it.
 */
export function connectWorker(options: { name: string; replyMsMax: number }): {
  fd: number;
  worker: Promise<NativeWorker>;
};
/** Asks the worker what is free. */
export function workerDevices(worker: NativeWorker): Promise<DeviceInfo[]>;
/** It has failed, and stays so: what computes with it ends with `worker_lost`. */
export function isWorkerLost(worker: NativeWorker): boolean;
/** Makes it fail. */
export function loseWorker(worker: NativeWorker): void;

export interface NativeServeOptions {
  /** A connected socket, which this takes over. */
  fd: number;
  /** Names as in `buildInfo()`, and what the peer may take of each, in bytes. */
  devices: { name: string; bytesMax: number }[];
  threads: number;
}

/** Computes for a peer until it hangs up. Rejects with `invalid_argument` for what no peer of ours sends. */
export function servePeer(options: NativeServeOptions): Promise<void>;

/** Sends llama.cpp's own log lines to `sink`, or nowhere with null (the default). Level: 1 debug … 4 error. */
export function setLogSink(sink: ((level: number, text: string) => void) | null): void;
export function keepMemoryTight(): void; // of the whole process
