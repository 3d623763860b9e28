// What an engine's process and its parent send to each other. The parent numbers calls, models and requests. Objects of the addon stay
// in the child, which numbers them. The engine's events take another path (step-reports.ts) that bypasses the child's JavaScript.
import type { EngineErrorDetails } from "../../base/errors.ts";
import type {
  NativeChat,
  NativeEngineOptions,
  NativeErrorCode,
  NativeImageText,
  NativeLoadOptions,
  NativeMemoryLimits,
  NativeModel,
  NativeModelInfo,
  NativePieces,
  NativePrompt,
  NativeReply,
  NativeRequest,
  NativeSlotChange,
  NativeSlotCommand,
  NativeStats,
  NativeTemplateResult,
} from "../addon.ts";

/** The number of a prompt's images, of a constraint or of a parser. */
export type ObjectNumber = number;

export interface RemotePrompt extends Pick<NativePrompt, "tokens" | "audioTokens" | "stops" | "thought"> {
  images: ObjectNumber | null;
  constraint: ObjectNumber | null;
  parser: ObjectNumber | null;
}

/** A request whose images and constraint the child forgets once it is submitted. */
interface RemoteRequest extends Omit<NativeRequest, "images" | "constraint"> {
  images: ObjectNumber | null;
  constraint: ObjectNumber | null;
}

type MethodOptions<Method extends "tokenize" | "detokenize"> = Parameters<NativeModel[Method]>[1];

/** Calls with one result, which the child computes with the addon. `model` is a number that the parent chose. */
export interface EngineCalls {
  loadModel(model: number, options: NativeLoadOptions): NativeModelInfo;
  disposeModel(model: number): void;
  /** The process has one engine; `draft` is the number of its draft model. */
  createEngine(model: number, options: NativeEngineOptions, draft: number | undefined): NativeStats;
  /** The process then has nothing left to do. */
  disposeEngine(): void;
  changeSlot(command: NativeSlotCommand): NativeSlotChange;
  tokenize(model: number, text: string, options: MethodOptions<"tokenize">): Int32Array;
  detokenize(model: number, tokens: Int32Array, options: MethodOptions<"detokenize">): string;
  pieces(model: number, tokens: Int32Array): NativePieces;
  applyChatTemplate(model: number, chat: NativeChat): NativeTemplateResult;
  prepareChat(model: number, chat: NativeChat): RemotePrompt;
  prepareImages(model: number, text: NativeImageText): Pick<RemotePrompt, "tokens" | "images">;
  prepareGrammar(model: number, grammar: string): ObjectNumber;
  parseReply(model: number, parser: ObjectNumber, text: string, isPartial: boolean): NativeReply | null;
}

export type CallName = keyof EngineCalls;

/** Messages to the child. */
export type Command =
  | { [Name in CallName]: CallCommand<Name> }[CallName]
  /** Aborts a call that can be aborted. */
  | { kind: "abort"; id: number }
  | { kind: "submit"; id: number; request: RemoteRequest }
  | { kind: "embed"; id: number; texts: readonly Int32Array[]; limits: NativeMemoryLimits }
  | { kind: "cancel"; id: number }
  | { kind: "endThought"; id: number }
  | { kind: "reportBlocks"; isAnew: boolean }
  /** Nothing is in flight: until the next call or request, the parent expects no messages. */
  | { kind: "rest" }
  /** The parent no longer uses this object. */
  | { kind: "forget"; object: ObjectNumber };

export interface CallCommand<Name extends CallName> {
  kind: "call";
  id: number;
  name: Name;
  args: Parameters<EngineCalls[Name]>;
}

/** A message from the child: everything that has happened since the last one, in this order. */
export type Message = readonly Report[];

/** An error of the addon; other errors have no code. */
export interface Failure {
  code: NativeErrorCode | undefined;
  message: string;
  details: EngineErrorDetails | undefined;
}

export type Report =
  | { kind: "done"; id: number; result: ReturnType<EngineCalls[CallName]> }
  | ({ kind: "failed"; id: number } & Failure)
  /** The fraction of a model's weights that was read. */
  | { kind: "progress"; id: number; fraction: number }
  /** The engine refused a request. */
  | ({ kind: "refused"; id: number } & Failure)
  | { kind: "stats"; stats: NativeStats }
  /** A line of llama.cpp's log; level 1 debug … 4 error. */
  | { kind: "log"; level: number; text: string }
  /** Sent every `heartbeatMs` until the parent sends `rest`, and once more. The memory is that of the process in RAM. */
  | { kind: "alive"; memoryBytes: number };

export const heartbeatMs = 250;

/** The child's descriptor of the socket for step reports. */
export const stepReportsFd = 4;
