// The engine at the seam to TypeScript: its options, its requests and its figures.
import type { NativeConstraint, NativeImages } from "./chat.d.ts";
import type { NativeLoadOptions } from "./load.d.ts";
import type { NativeMemoryBytes, NativeMemoryLimits, NativeEvent, NativeBlocksEvent } from "./events.d.ts";

export interface NativeContextOptions {
  /** Maximum number of tokens one sequence may hold. */
  contextLength: number;
  /** Number of KV cells for all sequences together; at least contextLength. */
  cells: number;
  /** Number of sequences that run at the same time. */
  parallel: number;
  /** Maximum number of tokens per step while no sequence is decoding. */
  batchTokens: number;
  threads: number;
  threadsBatch: number;
  /** One of `BuildInfo.kvTypes`. `invalid_argument` if the model's heads, a device or flash attention does not support it. */
  kvTypeK: string;
  kvTypeV: string;
  /** "auto" lets llama.cpp choose by backend. */
  flashAttention: "auto" | "on" | "off";
  /**
   * Whether all sequences share one pool of cells. "off" gives each a stream of `contextLength` cells: `invalid_argument` if
   * `cells` has no room for more than `parallel` streams, for models with recurrent state, and over workers. "auto" uses streams
   * where possible if GPUs compute all layers.
   */
  kvUnified: "auto" | "on" | "off";
  /**
   * Whether the model's layers for multi-token prediction draft tokens. "on": `invalid_argument` for a model without `mtpLayers` and over
   * workers. "auto" uses them where they are, and where a recurrent state can be rolled back within little memory.
   */
  mtp: "auto" | "on" | "off";
  /** Maximum number of tokens computed at once; 0 means the batch size. */
  ubatchTokens: number;
  /** Whether the KV cache is on the devices of its layers. `invalid_argument` for false without such a device. */
  kvOffload: boolean;
  /** Positions: "", 0 and -1 stand for the values of the model's file. */
  ropeScaling: "" | "none" | "linear" | "yarn";
  ropeFreqBase: number;
  ropeFreqScale: number;
  yarnOriginalLength: number;
  yarnExtFactor: number;
  yarnAttnFactor: number;
  yarnBetaFast: number;
  yarnBetaSlow: number;
  /** Processors for the compute threads; empty for all. With `cpuStrict`, each thread stays on one of them. */
  cpus: Int32Array;
  cpuStrict: boolean;
  /** -1 (low) to 3 (realtime). `invalid_argument` if the system does not grant it. */
  priority: number;
}

export interface NativeEngineOptions extends NativeContextOptions {
  /** Maximum number of prompt tokens per step beside decoding sequences; 0 lets the engine measure and choose. */
  batchTokensBusy: number;
  /** Maximum number of waiting requests; further ones are refused with `overloaded`. */
  waitingMax: number;
  /** What happens when a chat fills its context: the reply ends, or the oldest turns are dropped. */
  contextOverflow: "length" | "shift";
  /** Drafts tokens from n-grams of the text and of earlier replies, or with a draft model; only for models with `rollsBack`. */
  speculation: "off" | "ngram" | "draft-model";
  /** Maximum number of tokens that a draft model drafts per step; 0 for its own number. */
  draftTokens: number;
  /** Size of the host KV tier, in bytes; 0 disables it. */
  cacheRamBytes: number;
  /** Memory for saved states of a model with `isRecurrent`, in bytes. */
  checkpointBytes: number;
  /** A file that keeps the host KV tier between engines; "" for none. A damaged or foreign file is ignored. */
  stateFile: string;
  /** 32 bytes that identify everything that must be equal for a saved state to be valid. */
  stateKey: Uint8Array;
  /** An existing folder for the files of `changeSlot`; "" for none. */
  slotDir: string;
  /** Tokens per block in reports of `reportBlocks`; 0 disables them. */
  kvBlockTokens: number;
  /** 8 bytes that seed every block's hash. */
  kvBlockSeed: Uint8Array;
}

/** A draft model that is only measured, and the most tokens that it drafts in one step; 0 for its own number. */
export interface NativeDraftOptions {
  model: NativeLoadOptions;
  draftTokens: number;
}

/** The sampling options of @ingle/generation-options, under their names there; every value is already checked. */
export interface NativeSampling {
  // <!-- generated: members of NativeSampling -->

  temperature: number;
  topP: number;
  topK: number;
  minP: number;
  repeatPenalty: number;
  repeatLastN: number;
  presencePenalty: number;
  frequencyPenalty: number;
  seed: number;
  /** Pairs of token id and bias, flat: [id, bias, id, bias, …]. -Infinity bans the token. */
  logitBias: Float64Array;
  typicalP: number;
  topNSigma: number;
  xtcProbability: number;
  xtcThreshold: number;
  dynatempRange: number;
  dynatempExponent: number;
  dryMultiplier: number;
  dryBase: number;
  dryAllowedLength: number;
  dryPenaltyLastN: number;
  drySequenceBreakers: string[];
  mirostat: number;
  mirostatTau: number;
  mirostatEta: number;
  adaptiveTarget: number;
  adaptiveDecay: number;
  /** The samplers in their order, each by llama.cpp's letter. */
  samplers: string;
  minTokens: number;

  // <!-- end -->
}

export interface NativeRequest {
  tokens: Int32Array;
  /** The images and audio of the prompt that `tokens` come from. */
  images: NativeImages | null;
  sampling: NativeSampling;
  /** Maximum number of tokens to generate; -1 for as many as the context has room for, or with `shift`, four contexts' worth. */
  maxTokens: number;
  stops: string[];
  ignoreEos: boolean;
  /** Whether to share prefixes with earlier and later requests. */
  cachePrompt: boolean;
  /** Null: any text. */
  constraint: NativeConstraint | null;
  /** How many of the likeliest tokens to report for each token, up to 20; -1 reports no probabilities at all. */
  logprobs: number;
  /** A scale for each of the model's adapters, in their order; empty for none. */
  adapterScales: number[];
  /** What the reply will probably repeat, for drafts; empty for none. Ignored without `rollsBack`. */
  prediction: Int32Array;
  /** Whether to report how much of the prompt is computed. */
  reportsPrompt: boolean;
  /**
   * How many of the likeliest tokens to report for each token of the prompt, up to 20; -1 reports no probabilities of the prompt. Needs
   * `cachePrompt: false` and no images. The reply's log probabilities then include the token that ends it.
   */
  promptLogprobs: number;
  /** Names the request's text for `changeSlot`, once the request has ended; -1 for no name. */
  idSlot: number;
  /**
   * Computed prefixes, drafts from earlier replies and the names of texts are shared only by requests with the same salt: up to 64 of the
   * digits 0 to 9 and a to f; "" for those that all requests without one share. Throws `invalid_argument` for others.
   */
  cacheSalt: string;
  /** Requests with the same key are served in order of arrival; different keys get fair shares. */
  client: string;
  thought: NativeThoughtRules;
  /** -1, 0 or 1: those of a higher priority are served first, and take the slots of those of a lower one. */
  priority: number;
}

/** How thoughts are followed, and when they are ended. Without `ends`, they are not. */
export interface NativeThoughtRules {
  begin: string;
  ends: string[];
  /** Whether the prompt ends inside a thought. */
  isOpen: boolean;
  /** Maximum number of tokens of all thoughts of the reply together; -1 for no limit. */
  tokensMax: number;
  /** Instead of that: the share of the reply's own limit of tokens, 0 to 1; 0 for none. */
  share: number;
  /** The tokens that end a thought. */
  closing: Int32Array;
}

/** Owns the context and the one thread that may touch it. Its calls return at once. */
export interface NativeEngine {
  /**
   * Adds a request to the waiting queue and returns its id. Throws `overloaded`, `context_length_exceeded`,
   * `generation_not_supported`, `disposed`. `given` is an id that no other request of the engine has had: either all requests
   * have one, or none.
   */
  submit(request: NativeRequest, given?: number): number;
  /**
   * Like `submit`, but for the embeddings of 1 to 2,048 texts or, with a reranker, for the scores of pairs: the last event has
   * all of them. Throws `overloaded`, `context_length_exceeded`, `embeddings_not_supported`, `disposed`. If the context for
   * embeddings would take more than `limits`, the last event is an `out_of_memory` error; they do not apply to an embedding
   * model, whose memory was planned.
   */
  embed(texts: readonly Int32Array[], limits: NativeMemoryLimits, given?: number): number;
  /** Ends a request in any state: its last event is a finish with reason "cancelled". Ignores unknown ids. */
  cancel(id: number): void;
  /** Ends the thought of a reply, from its next token on. Ignores unknown ids, and replies that have no thought. */
  endThought(id: number): void;
  /**
   * Saves the computed state of the text that `idSlot` names, restores it into the prefix cache, or erases it there. Rejects with
   * `invalid_argument` (no such text or file, a damaged file or one of another model, build or setting, a text with images, a model
   * without a host KV tier), `out_of_memory` (it is larger than `cacheRamBytes`), `engine_failed` (the file cannot be written),
   * `aborted` or `disposed`.
   */
  changeSlot(command: NativeSlotCommand): NativeSlotWork;
  /**
   * Requests one report of the reusable blocks, delivered as soon as there is something to report: the changes since the last
   * report, or with `isAnew` all blocks.
   */
  reportBlocks(isAnew: boolean): void;
  stats(): NativeStats;
  /** Ends every request with `disposed`, joins the thread, frees the context. Idempotent; resolves when done. */
  dispose(): Promise<void>;
}

export interface NativeSlotCommand {
  action: "save" | "restore" | "erase";
  idSlot: number;
  /** A name in `slotDir`, or with a salt in the existing folder there that it names; not used by "erase". */
  file: string;
  /** That of the requests whose text this is. */
  cacheSalt: string;
}

export interface NativeSlotWork {
  done: Promise<NativeSlotChange>;
  /** Ends the work soon. */
  abort(): void;
}

export interface NativeSlotChange {
  /** Tokens whose state was saved, will be copied back instead of computed, or was erased. */
  tokens: number;
  /** The size of the file; 0 without one. */
  bytes: number;
}

/** Sends events to another process, from the engine's thread. */
export interface NativeEventPipe {
  /**
   * A stream socket. It gets a frame for each step with events: the length of the rest as four bytes, lowest first, and a
   * NativeStepReport that `v8.deserialize` reads.
   */
  fd: number;
  /**
   * Must write to `fd` what the socket did not take at once; on Windows, everything. It runs in JavaScript, which may wait for
   * the reader; the engine never waits.
   */
  write: (bytes: Uint8Array) => void;
}

/** The events of a step. */
export interface NativeStepReport {
  events: (NativeEvent | NativeBlocksEvent)[];
  /** The counters after the step, if it ended a request. */
  stats: NativeStats | null;
}

export interface NativeStats {
  running: number;
  waiting: number;
  cells: number;
  /** Bytes per cell: keys and values of one token in all layers. */
  cellBytes: number;
  /** Cells that running requests hold or have reserved. */
  cellsUsed: number;
  /** Cells of the prefix cache; freed when they are needed. */
  cellsCached: number;
  /** Steps of the engine's loop. */
  steps: number;
  promptTokens: number;
  generatedTokens: number;
  /** Number of images, or tiles of them, and of windows of audio that were encoded. */
  imagesEncoded: number;
  preemptions: number;
  /** Number of times a running request filled the context and dropped its oldest chat turns. */
  contextShifts: number;
  /** Number of draft tokens verified, and how many of them were accepted. */
  draftedTokens: number;
  acceptedTokens: number;
  /** Size in bytes and number of the segments in the host KV tier. */
  cacheRamBytes: number;
  cacheRamPieces: number;
  /** Number of segments swapped in instead of being computed again. */
  cacheRamHits: number;
  /**
   * Where the time of steps went, in microseconds: planning them, moving cells of the KV cache, building graphs, launching them (on the
   * processor: computing them), waiting for devices, choosing tokens, texts for embeddings, and handing events over.
   */
  scheduleUs: number;
  cacheUs: number;
  graphUs: number;
  launchUs: number;
  waitUs: number;
  sampleUs: number;
  embedUs: number;
  publishUs: number;
  /** Microseconds that devices computed graphs, by their own clocks (CUDA and Vulkan); 0 for the processor. */
  deviceUs: number;
  /** Number of graphs that were built, because the last one could not be used again. */
  graphsBuilt: number;
  /** Bytes of logits, candidates and hidden states that came back from the devices, or were copied in the processor's memory. */
  outputBytes: number;
  /** The current memory of the context for embeddings; empty without one, or if it was planned when the model was loaded. */
  embeddingMemory: NativeMemoryBytes[];
}
