// A model that generates what a script specifies, at the given speed, for tests of everything above the addon. It implements the
// same interface as the real engine (NativeModel, NativeEngine).
import { Model } from "../model.ts";
import type {
  NativeChat,
  NativeConstraint,
  NativeEngine,
  NativeEvent,
  NativeModel,
  NativeModelInfo,
  NativePrompt,
  NativeReply,
  NativeReplyParser,
  NativeRequest,
} from "../native.ts";
import { usualContext, usualEngine } from "./native-options.ts";

export interface Script {
  /** The pieces of every reply, in order, or of the reply with this number, from 1; each is one token. */
  pieces?: readonly string[] | ((reply: number) => readonly string[]);
  /** Milliseconds before each piece. 0 (the default) sends each piece in its own iteration of the event loop. */
  delayMs?: number;
  finishReason?: "stop" | "length";
  /** The stop string that every reply reports. Default none. */
  stop?: string;
  /** The error of every reply after its pieces. Default none. */
  failure?: { code: "engine_failed" | "out_of_memory" | "disposed"; message: string };
  /** Refuses submissions with this error: all, or the one with this number, from 1. */
  refusal?: {
    only?: number;
    code: "overloaded" | "context_length_exceeded" | "generation_not_supported" | "embeddings_not_supported";
    message: string;
    details?: Record<string, number>;
  };
  /** The drafted and accepted tokens that every reply reports. Default none. */
  drafts?: { drafted: number; accepted: number };
  /** The cached tokens that every prompt reports, at most all of its tokens. Default 0. */
  cachedTokens?: number;
  /** Makes formatting a conversation end only when it is aborted. */
  endlessTemplate?: boolean;
  /** Parses replies; without it, they are all content. */
  reply?: (text: string, isPartial: boolean) => NativeReply | null;
  contextLength?: number;
  parallel?: number;
  info?: Partial<NativeModelInfo>;
}

/** The requests to a scripted model, and those in flight. */
export interface ScriptLog {
  /** Every prompt as text: messages are formatted as `role: content`, one per line. */
  prompts: string[];
  chats: NativeChat[];
  /** The prompts whose preparation was aborted. */
  abortedChats: NativeChat[];
  requests: NativeRequest[];
  /** The texts of every request for embeddings. */
  embedded: Int32Array[][];
  cancelled: number[];
  running: Set<number>;
}

// The native engine's handles are opaque: they are only passed back to it.
// oxlint-disable-next-line no-unsafe-type-assertion -- they are opaque
const scriptedConstraint = {} as NativeConstraint;
// oxlint-disable-next-line no-unsafe-type-assertion -- they are opaque
const scriptedParser = {} as NativeReplyParser;

/** A template that can write and hold everything. */
export const scriptedTemplate: NativeModelInfo["chatTemplate"] = {
  source: "{{ messages }}",
  writesTools: true,
  writesToolCalls: true,
  writesLaterSystem: true,
  refusesUserAfterUser: false,
  refusesAssistantAfterAssistant: false,
  refusesUserAfterResult: false,
  isLfm2: false,
  writesNullTypes: true,
  holdsFormOrCalls: true,
  arguments: { syntax: "json", end: "", readsJson: false },
};

const scriptedInfo: NativeModelInfo = {
  architecture: "scripted",
  name: "Scripted",
  quantization: "F16",
  contextLengthTrain: 2048,
  vocabularySize: 256,
  embeddingSize: 8,
  layers: 1,
  parameters: 1000,
  sizeBytes: 2000,
  hasChatTemplate: true,
  readsImages: false,
  readsAudio: false,
  imageMarker: "<image>",
  chatTemplate: scriptedTemplate,
  isRecurrent: false,
  rollsBack: true,
  mtpLayers: 0,
  tokens: {
    bos: 1,
    eos: 2,
    eot: -1,
    sep: -1,
    infillPrefix: -1,
    infillSuffix: -1,
    infillMiddle: -1,
    infillProject: -1,
    infillFile: -1,
  },
  addsBos: false,
  addsEos: false,
  addsSep: false,
  isReranker: false,
  rerankTemplate: "",
};

/** A Model that follows a script, and the log of its requests. */
export async function scriptedModel(script: Script = {}): Promise<{ model: Model; log: ScriptLog }> {
  const log: ScriptLog = {
    prompts: [],
    chats: [],
    abortedChats: [],
    requests: [],
    embedded: [],
    cancelled: [],
    running: new Set(),
  };
  const contextLength = script.contextLength ?? 2048;
  const model = await Model.start(scriptedNative(script, log), {
    contextLength,
    cells: contextLength,
    parallel: script.parallel ?? 8,
    batchTokens: 512,
    threads: 1,
    threadsBatch: 1,
    ...usualContext,
    ...usualEngine,
    waitingMax: 256,
  });
  return { model, log };
}

/** One token per UTF-16 unit, so that tests can count them. It must be fast, because it runs on the main thread. */
function tokenize(text: string): Int32Array {
  return new Int32Array(Buffer.from(text, "latin1"));
}

function scriptedNative(script: Script, log: ScriptLog): NativeModel {
  const write = (messages: readonly { role: string; content: string }[]): string => {
    const prompt = messages.map(({ role, content }) => `${role}: ${content}`).join("\n");
    log.prompts.push(prompt);
    return prompt;
  };
  return {
    info: { ...scriptedInfo, ...script.info },
    tokenize: async (text) => tokenize(text),
    detokenize: async (tokens) => Buffer.from(Uint8Array.from(tokens)).toString("latin1"),
    pieces: async (tokens) => ({
      bytes: Uint8Array.from(tokens),
      ends: Int32Array.from(tokens, (_, index) => index + 1),
    }),
    applyChatTemplate: async ({ messages }) => ({ prompt: write(messages), stops: [] }),
    prepareChat: (chat) => {
      log.chats.push(chat);
      const parser = script.reply === undefined ? null : scriptedParser;
      const tokens = tokenize(write(chat.messages));
      let abort = (): void => {};
      const prompt = new Promise<NativePrompt>((resolve, reject) => {
        abort = () => {
          log.abortedChats.push(chat);
          reject(Object.assign(new Error("The conversation is not needed any more."), { code: "aborted" }));
        };
        if (script.endlessTemplate !== true)
          resolve({ tokens, images: null, audioTokens: 0, stops: [], constraint: null, parser });
      });
      return { prompt, abort };
    },
    prepareImages: async ({ text }) => ({ tokens: tokenize(text), images: null }),
    prepareGrammar: async () => scriptedConstraint,
    parseReply: async (_parser, text, isPartial) => script.reply?.(text, isPartial) ?? null,
    createEngine: async (_options, onEvents) => scriptedEngine(script, log, onEvents),
    dispose: () => {},
  };
}

function scriptedEngine(
  script: Script,
  log: ScriptLog,
  onEvents: (events: NativeEvent[]) => void,
): NativeEngine {
  let nextId = 1;
  const counted = { promptTokens: 0, generatedTokens: 0, draftedTokens: 0, acceptedTokens: 0 };
  const count = (events: NativeEvent[]): void => {
    for (const event of events) {
      if (event.type === "text") counted.generatedTokens += event.tokens;
      if (event.type !== "finish") continue;
      counted.draftedTokens += event.draftedTokens;
      counted.acceptedTokens += event.acceptedTokens;
    }
    onEvents(events);
  };
  const takeIn = (): number => {
    const id = nextId++;
    if (script.refusal !== undefined && (script.refusal.only ?? id) === id) {
      const { code, message, details } = script.refusal;
      throw Object.assign(new Error(message), { code, details });
    }
    log.running.add(id);
    return id;
  };
  return {
    submit: (request) => {
      const id = takeIn();
      log.requests.push(request);
      counted.promptTokens += request.tokens.length - cachedOf(request, script);
      void play(id, request, script, log, count); // every path emits a last event
      return id;
    },
    embed: (texts) => {
      const id = takeIn();
      log.embedded.push([...texts]);
      void playEmbeddings(id, texts, script, log, onEvents); // every path emits a last event
      return id;
    },
    cancel: (id) => {
      if (log.running.delete(id)) log.cancelled.push(id);
    },
    reportBlocks: () => {}, // it caches nothing
    changeSlot: () => ({ done: Promise.resolve({ tokens: 0, bytes: 0 }), abort: () => {} }),
    stats: () => ({
      running: log.running.size,
      waiting: 0,
      cells: 2048,
      cellBytes: 1024,
      cellsUsed: 0,
      cellsCached: 0,
      steps: 0,
      ...counted,
      imagesEncoded: 0,
      preemptions: 0,
      contextShifts: 0,
      cacheRamBytes: 0,
      cacheRamPieces: 0,
      cacheRamHits: 0,
      embeddingMemory: [],
    }),
    dispose: async () => log.running.clear(),
  };
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => (ms > 0 ? setTimeout(resolve, ms) : setImmediate(resolve)));
}

async function play(
  id: number,
  request: NativeRequest,
  script: Script,
  log: ScriptLog,
  onEvents: (events: NativeEvent[]) => void,
): Promise<void> {
  const { pieces: written = ["Hello", ", ", "world", "!"] } = script;
  const pieces = typeof written === "function" ? written(id) : written;
  const most = request.maxTokens < 0 ? pieces.length : Math.min(request.maxTokens, pieces.length);
  if (request.reportsPrompt) {
    const { length: promptTokens } = request.tokens;
    const counts = { promptTokens, cachedTokens: cachedOf(request, script), computedTokens: promptTokens };
    await pause(0);
    if (log.running.has(id)) onEvents([{ id, type: "prompt", ...counts, ms: 0 }]);
  }
  for (const text of pieces.slice(0, most)) {
    await pause(script.delayMs ?? 0);
    if (!log.running.has(id)) return;
    onEvents([{ id, type: "text", text, tokens: 1 }]);
  }
  await new Promise((resolve) => setImmediate(resolve));
  if (!log.running.delete(id)) return;
  onEvents([lastEvent(id, request, script, most, pieces.length)]);
}

/** The vector of a text: the number of its tokens of each of eight kinds. */
async function playEmbeddings(
  id: number,
  texts: readonly Int32Array[],
  script: Script,
  log: ScriptLog,
  onEvents: (events: NativeEvent[]) => void,
): Promise<void> {
  await pause(script.delayMs ?? 0);
  if (!log.running.delete(id)) return;
  if (script.failure) return onEvents([{ id, type: "error", ...script.failure }]);
  const size = script.info?.embeddingSize ?? scriptedInfo.embeddingSize;
  const vectors = new Float32Array(texts.length * size);
  for (const [index, text] of texts.entries()) {
    for (const token of text) {
      const at = index * size + (token % size);
      vectors[at] = (vectors[at] ?? 0) + 1;
    }
  }
  const promptTokens = texts.reduce((sum, text) => sum + text.length, 0);
  onEvents([{ id, type: "embeddings", vectors, promptTokens, queueMs: 0, computeMs: 1 }]);
}

function lastEvent(
  id: number,
  request: NativeRequest,
  script: Script,
  sent: number,
  all: number,
): NativeEvent {
  if (script.failure) return { id, type: "error", ...script.failure };
  return {
    id,
    type: "finish",
    reason: sent < all ? "length" : (script.finishReason ?? "stop"),
    stop: script.stop ?? "",
    promptTokens: request.tokens.length,
    cachedTokens: cachedOf(request, script),
    droppedTokens: 0,
    completionTokens: sent,
    draftedTokens: script.drafts?.drafted ?? 0,
    acceptedTokens: script.drafts?.accepted ?? 0,
    queueMs: 0,
    promptMs: 1,
    predictedMs: sent,
  };
}

function cachedOf({ tokens }: Pick<NativeRequest, "tokens">, { cachedTokens = 0 }: Script): number {
  return Math.min(cachedTokens, tokens.length);
}
