// The seam between the native engine and TypeScript, written by hand. Only @ingle/engine imports it.
// Arguments are trusted: @ingle/engine has checked them. Errors have a `code`, and `details` with numbers or with the wrong
// option (`param`).

import type { NativeChat, NativeChatTemplate, NativeImageText, NativeReply } from "./chat.d.ts";
import type {
  NativeBlocksEvent,
  NativeContextOptions,
  NativeDraftOptions,
  NativeEngine,
  NativeEngineOptions,
  NativeEvent,
  NativeEventPipe,
} from "./engine.d.ts";

export type {
  NativeArgumentRule,
  NativeArgumentSkills,
  NativeAudio,
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
  NativeDraftOptions,
  NativeEmbeddingEvent,
  NativeEngine,
  NativeEngineOptions,
  NativeErrorEvent,
  NativeEvent,
  NativeEventPipe,
  NativeFinishEvent,
  NativeMemoryBytes,
  NativeMemoryLimits,
  NativeRequest,
  NativeSampling,
  NativeSlotChange,
  NativeSlotCommand,
  NativeSlotWork,
  NativeStats,
  NativeStepReport,
  NativeStoredBlocks,
  NativePromptEvent,
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
  | "audio_not_supported"
  | "audio_invalid"
  | "projector_mismatch"
  | "embeddings_not_supported"
  | "engine_failed"
  /** Only for an engine in its own process: the process has ended. */
  | "engine_crashed"
  | "worker_lost"
  | "disposed";

/** What was compiled into the addon, and what this machine offers. */
export interface BuildInfo {
  version: string;
  /** `sources` identifies what was compiled, including patches and added files, which the commit does not cover. */
  llamaCpp: { version: string; commit: string; sources: string };
  /** The GPU backend chosen at build time; "cpu" for none. */
  gpu: "cpu" | "cuda" | "metal" | "vulkan";
  /** The processor chosen at build time: "native", "all", or a level of x86-64. */
  cpu: string;
  compiler: string;
  buildType: string;
  devices: DeviceInfo[];
  /** Instruction sets that ggml's CPU backend was compiled for: AVX2, AVX512, NEON, … */
  cpuFeatures: string[];
  /** Names of the ggml types that a KV cache can have: f16, q8_0, q4_0, … */
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
  /** A GGUF file; for a split model, its first part. */
  path: string;
  /** Layers to put on the GPU; a negative number means all. */
  gpuLayers: number;
  mmap: boolean;
  mlock: boolean;
  /** Whether to load layers for multi-token prediction, if the file has any. */
  mtp: boolean;
  /** The projector for image and audio input, whose header was checked; null for none. */
  projector: NativeProjector | null;
  /** Machines that hold layers; they come before this machine's GPUs, and stay connected until the model is disposed. */
  workers: NativeWorker[];
  /** Null for the defaults. */
  placement: NativePlacement | null;
  /** Adapters that requests may use. Not read by `measureModel`. */
  adapters: NativeAdapter[];
  /** In place of the file's chat template; "" for that. `invalid_argument` if it is too long or cannot be read. */
  chatTemplate: string;
}

export interface NativeAdapter {
  /** A GGUF file whose header was checked. */
  path: string;
  /** Equal contents, used in the same layers, have the same, others another. */
  identity: string;
  /** Of a control vector: what is added in each layer from the second on, one after another. Empty for a LoRA adapter. */
  directions: number[];
}

/** Where a model's tensors go, and how its file is read. Options without an effect on this machine are `invalid_argument`. */
export interface NativePlacement {
  /** Names as in `buildInfo()`; empty for all GPUs, `["none"]` for none. */
  devices: string[];
  /** The experts of this many layers, counted from the first, stay in host memory. */
  cpuMoeLayers: number;
  /** Tensors whose names match the pattern go to the device, or to "CPU"; the first match counts. */
  tensorOverrides: { pattern: string; device: string }[];
  splitMode: "layer" | "row" | "none";
  /** Each device's share; empty to divide by free memory. */
  tensorSplit: number[];
  /** With `splitMode: "none"`, the device that holds the model; -1 if none was requested. */
  mainGpu: number;
  /** "distribute", "isolate" or "numactl" for the whole process; empty for none. */
  numa: string;
  checkTensors: boolean;
  /** Values of the file's header to replace. */
  kvOverrides: { key: string; type: "int" | "float" | "bool" | "str"; value: string }[];
}

export interface NativeProjector {
  path: string;
  /** Threads that encode images and audio, unless a GPU does. */
  threads: number;
  /** Minimum and maximum number of tokens per image, for projectors with a variable number; 0 uses the file's values. */
  imageMinTokens: number;
  imageMaxTokens: number;
  /** The longest audio that it encodes; 0 for all that a prompt may have. */
  audioSecondsMax: number;
}

/** A load in progress. `abort()` makes `model` reject with `aborted`; once it is done, `abort()` does nothing. */
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
  /** Dimensions of a text's embedding. */
  embeddingSize: number;
  layers: number;
  parameters: number;
  /** Bytes of all tensors. */
  sizeBytes: number;
  hasChatTemplate: boolean;
  /** Whether it was loaded with a projector for images, so that messages may have them. */
  readsImages: boolean;
  /** The same for audio. */
  readsAudio: boolean;
  /** Stands for an image or an audio in the texts that `applyChatTemplate` returns and `prepareImages` takes. */
  imageMarker: string;
  chatTemplate: NativeChatTemplate;
  /** Whether it has convolution or state-space layers, so that a sequence's state cannot be cut at any token. */
  isRecurrent: boolean;
  /** Whether a sequence's last tokens can be taken back, as drafts need it; not with every recurrent state. */
  rollsBack: boolean;
  /** Layers for multi-token prediction that were loaded and can be computed. */
  mtpLayers: number;
  /** Ids of special tokens; -1 if the vocabulary has none. The `infill` ones are for fill-in-the-middle. */
  tokens: {
    bos: number;
    eos: number;
    eot: number;
    /** Separates two texts that are read together. */
    sep: number;
    infillPrefix: number;
    infillSuffix: number;
    infillMiddle: number;
    /** Tokens before the name of a project, and before the name of each of its files. */
    infillProject: number;
    infillFile: number;
  };
  /** Whether texts begin with `bos`. */
  addsBos: boolean;
  /** Whether they end with `eos`. */
  addsEos: boolean;
  /** Whether the first of two texts that are read together ends with `sep`. */
  addsSep: boolean;
  /** Whether it scores pairs of a query and a document, instead of making embeddings. */
  isReranker: boolean;
  /** The prompt of a pair, with {query} and {document} in it; empty if tokens separate the two. */
  rerankTemplate: string;
}

export interface NativeTemplateResult {
  prompt: string;
  /** Texts that end a turn in the template's format, in addition to the model's end tokens. */
  stops: string[];
}

export interface NativePrompt {
  /** Images and audio have negative ids: each stands for a part of one, and is valid only together with `images`. */
  tokens: Int32Array;
  images: NativeImages | null;
  /** How many of the tokens stand for audio. */
  audioTokens: number;
  stops: string[];
  constraint: NativeConstraint | null;
  /** Null: the whole reply is content. */
  parser: NativeReplyParser | null;
}

/** A prompt in preparation. `abort()` makes `prompt` reject with `aborted`; once it is done, `abort()` does nothing. */
export interface NativePreparation {
  prompt: Promise<NativePrompt>;
  abort(): void;
}

/** The images and audio of a prompt, prepared for the model and not yet encoded. Valid only for engines of the model that made them. */
export interface NativeImages {
  readonly nativeImages: never;
}

/** A parser for replies to one prompt. */
export interface NativeReplyParser {
  readonly nativeReplyParser: never;
}

/** What a reply must look like. Valid only for engines of the model that made it. */
export interface NativeConstraint {
  readonly nativeConstraint: never;
}

/** The bytes of tokens, concatenated; `ends` has the offset of each token's end. */
export interface NativePieces {
  bytes: Uint8Array;
  ends: Int32Array;
}

/** Immutable after loading. Its calls run on libuv's worker threads. */
export interface NativeModel {
  readonly info: NativeModelInfo;
  /** Never produces two beginning-of-text tokens, even with `addSpecial` and a text that begins with one. */
  tokenize(text: string, options: { addSpecial: boolean; parseSpecial: boolean }): Promise<Int32Array>;
  detokenize(
    tokens: Int32Array,
    options: { removeSpecial: boolean; unparseSpecial: boolean },
  ): Promise<string>;
  /** The bytes of each token, special tokens included; a token may be a part of a character. */
  pieces(tokens: Int32Array): Promise<NativePieces>;
  applyChatTemplate(chat: NativeChat): Promise<NativeTemplateResult>;
  /**
   * Renders the template and tokenizes, in one call. The prompt rejects with `template_failed` or `invalid_argument`, and for
   * images and audio also with `image_not_supported`, `audio_not_supported`, `audio_invalid`, `overloaded` or
   * `out_of_memory`.
   */
  prepareChat(chat: NativeChat): NativePreparation;
  /** The same for a text with images, without a template. Rejects as `prepareChat` does for images. */
  prepareImages(text: NativeImageText): Promise<Pick<NativePrompt, "tokens" | "images">>;
  /** Reads a GBNF grammar for the whole reply. Rejects with `invalid_argument` and what is wrong with it. */
  prepareGrammar(grammar: string): Promise<NativeConstraint>;
  /** Parses a reply, or the start of one. Null if it does not follow the syntax. */
  parseReply(parser: NativeReplyParser, text: string, isPartial: boolean): Promise<NativeReply | null>;
  createEngine(
    options: NativeEngineOptions,
    onEvents: (events: (NativeEvent | NativeBlocksEvent)[]) => void,
    /** Only with `speculation: "draft-model"`. The engine keeps its weights alive as long as it needs them. */
    draftModel?: NativeModel,
  ): Promise<NativeEngine>;
  /** Frees the weights once the last engine of the model is disposed. Idempotent. */
  dispose(): void;
}

/** A model in this process: its engine can also send events to another one. */
export interface AddonModel extends NativeModel {
  createEngine(
    options: NativeEngineOptions,
    output: Parameters<NativeModel["createEngine"]>[1] | NativeEventPipe,
    draftModel?: NativeModel,
  ): Promise<NativeEngine>;
}

export interface AddonLoad extends NativeLoad {
  model: Promise<AddonModel>;
}

export function buildInfo(): BuildInfo;
export function loadModel(options: NativeLoadOptions, onProgress: (fraction: number) => void): AddonLoad;

/** The memory that a model needs with given settings. */
export interface NativeMeasure {
  contextLengthTrain: number;
  /** The device of each layer: a name as in `buildInfo()`, or empty for the processor and its memory, here and below. */
  layerDevices: string[];
  memories: { device: string; weightsBytes: number; contextBytes: number; computeBytes: number }[];
}

/**
 * Computes the memory layout of a model and its context without allocating it or reading the weights. A context longer than the
 * model was trained for is cut to that length, and cells that no request could fill are not counted.
 */
export function measureModel(
  model: NativeLoadOptions,
  context: NativeContextOptions,
  draft: NativeDraftOptions | null,
): Promise<NativeMeasure>;

/** A connection to a worker, made by `connectWorker`; pass it to `loadModel`. */
export interface NativeWorker {
  readonly nativeWorker: never;
}

export interface NativeConnectOptions {
  /** Identifies the worker in this process: one that reconnects with the same devices must have the same name. */
  name: string;
  /** Time limit for a response in milliseconds; after that, the connection counts as lost. */
  replyMsMax: number;
}

/** Attaches a worker. Returns one end of a socket pair (`fd`); JavaScript carries its bytes to and from the worker. */
export function connectWorker(options: NativeConnectOptions): {
  fd: number;
  worker: Promise<NativeWorker>;
};
/** The worker's devices, with their free memory now. */
export function workerDevices(worker: NativeWorker): Promise<DeviceInfo[]>;
/** True once the connection has failed, for good: computations with it end with `worker_lost`. */
export function isWorkerLost(worker: NativeWorker): boolean;
/** Makes the connection fail. */
export function loseWorker(worker: NativeWorker): void;

export interface NativeServeOptions {
  /** A connected socket; `servePeer` takes ownership. */
  fd: number;
  /** Names as in `buildInfo()`, and the bytes that the peer may allocate on each. */
  devices: { name: string; bytesMax: number }[];
  threads: number;
}

/** Computes for a peer until it disconnects. Rejects with `invalid_argument` if the peer sends an invalid request. */
export function servePeer(options: NativeServeOptions): Promise<void>;

/** Sends llama.cpp's log lines to `sink`; null, the default, drops them. Level: 1 debug … 4 error. */
export function setLogSink(sink: ((level: number, text: string) => void) | null): void;
/** Makes the process return freed memory to the system early. Only for processes that run nothing but Ingle. */
export function keepMemoryTight(): void;
/** From now on, a lost GPU ends the process: only a new one gets the device back. For a process that is started again. */
export function endWhenDeviceIsLost(): void;
/**
 * Permanently drops rights of this process that an engine does not need once its model is loaded: starting programs, using the
 * network, signalling or inspecting other processes, mounting, and most files. Only the folder of `stateFile`, and `slotFolder`, if they are
 * not empty, and caches of GPU drivers can then be written. Returns what was restricted, in words for a log: nothing on systems other than Linux.
 */
export function confineProcess(stateFile: string, slotFolder: string): string[];
