// A model at the seam to TypeScript: loading it, measuring it, and what it does without an engine.
import type {
  NativeChat,
  NativeChatTemplate,
  NativeConstraint,
  NativeImageText,
  NativePreparation,
  NativePrompt,
  NativeReply,
  NativeReplyParser,
  NativeTemplateResult,
} from "./chat.d.ts";
import type {
  NativeContextOptions,
  NativeDraftOptions,
  NativeEngine,
  NativeEngineOptions,
  NativeEventPipe,
} from "./engine.d.ts";
import type { NativeBlocksEvent, NativeEvent } from "./events.d.ts";
import type { NativeLoadOptions } from "./load.d.ts";

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
