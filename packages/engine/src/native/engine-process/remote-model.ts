// A native model and engine whose calls run in a separate process. They survive its crash: the supervisor starts another process
// with the same models and options.
import { EngineError } from "../../base/errors.ts";
import type {
  NativeConstraint,
  NativeEngine,
  NativeImages,
  NativeLoad,
  NativeLoadOptions,
  NativeMemoryLimits,
  NativeModel,
  NativeModelInfo,
  NativePrompt,
  NativeReplyParser,
  NativeRequest,
  NativeSlotCommand,
  NativeSlotWork,
  NativeStats,
} from "../addon.ts";
import { requestShape } from "./crash-report.ts";
import type { EngineProcess } from "./engine-process.ts";
import type { ObjectNumber, RemotePrompt } from "./messages.ts";
import { firstModel, type Supervisor } from "./supervisor.ts";

/** Stands for an object of the addon in a process. */
class RemoteObject {
  readonly process: EngineProcess;
  readonly number: ObjectNumber;

  constructor(process: EngineProcess, number: ObjectNumber) {
    this.process = process;
    this.number = number;
    forgotten.register(this, { process, object: number });
  }
}

/** Parsers, and images and constraints that are never submitted, live as long as they can be used here. */
const forgotten = new FinalizationRegistry<{ process: EngineProcess; object: ObjectNumber }>(
  ({ process, object }) => process.post({ kind: "forget", object }),
);

/** The types of such objects are opaque: only numberIn() looks inside. */
type Opaque = NativeImages & NativeConstraint & NativeReplyParser;

function toObject(process: EngineProcess, number: ObjectNumber): Opaque {
  const object: unknown = new RemoteObject(process, number);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nobody else looks inside
  return object as Opaque;
}

function orNull(process: EngineProcess, number: ObjectNumber | null): Opaque | null {
  return number === null ? null : toObject(process, number);
}

/** The number of an object in this process. Throws `engine_crashed` for an object of a process that has crashed. */
function numberIn(
  process: EngineProcess | undefined,
  object: NativeImages | NativeConstraint | NativeReplyParser,
): ObjectNumber {
  if (!(object instanceof RemoteObject)) throw new Error("The object belongs to another engine.");
  if (object.process === process) return object.number;
  throw lostObject();
}

function lostObject(): EngineError {
  return new EngineError(
    "engine_crashed",
    "The process of this model's engine has ended since the request was prepared.",
  );
}

/** Starts loading a model in the supervised process. Aborting ends the process. */
export function loadRemote(
  supervisor: Supervisor,
  options: NativeLoadOptions,
  onProgress: (fraction: number) => void,
): NativeLoad {
  const number = supervisor.addModel(options.path);
  const load = async (): Promise<NativeModel> => {
    const info = await supervisor.setUp((process) =>
      process.call("loadModel", [number, options], { onProgress }),
    );
    return new RemoteModel(supervisor, number, info);
  };
  const aborted = (): Error => Object.assign(new Error("The load was aborted."), { code: "aborted" });
  return { model: load(), abort: () => void supervisor.end(aborted()) };
}

function toPrompt(
  process: EngineProcess,
  { tokens, audioTokens, stops, thought, ...objects }: RemotePrompt,
): NativePrompt {
  return {
    tokens,
    audioTokens,
    stops,
    thought,
    images: orNull(process, objects.images),
    constraint: orNull(process, objects.constraint),
    parser: orNull(process, objects.parser),
  };
}

class RemoteModel implements NativeModel {
  readonly info: NativeModelInfo;
  readonly #supervisor: Supervisor;
  readonly #number: number;

  constructor(supervisor: Supervisor, number: number, info: NativeModelInfo) {
    this.#supervisor = supervisor;
    this.#number = number;
    this.info = info;
  }

  tokenize: NativeModel["tokenize"] = async (...args) =>
    await (await this.#process()).call("tokenize", [this.#number, ...args]);

  detokenize: NativeModel["detokenize"] = async (...args) =>
    await (await this.#process()).call("detokenize", [this.#number, ...args]);

  pieces: NativeModel["pieces"] = async (tokens) =>
    await (await this.#process()).call("pieces", [this.#number, tokens]);

  applyChatTemplate: NativeModel["applyChatTemplate"] = async (chat) =>
    await (await this.#process()).call("applyChatTemplate", [this.#number, chat]);

  prepareChat: NativeModel["prepareChat"] = (chat) => {
    const aborting = new AbortController();
    const prepare = async (): Promise<NativePrompt> => {
      const process = await this.#process();
      const { signal } = aborting;
      return toPrompt(process, await process.call("prepareChat", [this.#number, chat], { signal }));
    };
    return { prompt: prepare(), abort: () => aborting.abort() };
  };

  prepareImages: NativeModel["prepareImages"] = async (text) => {
    const process = await this.#process();
    const { tokens, images } = await process.call("prepareImages", [this.#number, text]);
    return { tokens, images: orNull(process, images) };
  };

  prepareGrammar: NativeModel["prepareGrammar"] = async (grammar) => {
    const process = await this.#process();
    return toObject(process, await process.call("prepareGrammar", [this.#number, grammar]));
  };

  parseReply: NativeModel["parseReply"] = async (parser, ...args) => {
    const process = await this.#process();
    return await process.call("parseReply", [this.#number, numberIn(process, parser), ...args]);
  };

  createEngine: NativeModel["createEngine"] = async (options, onEvents, draft) => {
    this.#supervisor.onEvents = onEvents;
    const draftNumber = draft instanceof RemoteModel ? draft.#number : undefined;
    const stats = await this.#supervisor.setUp((process) =>
      process.call("createEngine", [this.#number, options, draftNumber]),
    );
    this.#supervisor.restartCrashed();
    return new RemoteEngine(this.#supervisor, stats, options.parallel);
  };

  dispose(): void {
    const number = this.#number;
    if (number === firstModel) void this.#supervisor.end();
    else this.#supervisor.setUp((process) => process.call("disposeModel", [number])).catch(() => {}); // it has ended
  }

  async #process(): Promise<EngineProcess> {
    return await this.#supervisor.usable();
  }
}

class RemoteEngine implements NativeEngine {
  readonly #supervisor: Supervisor;
  /** The counters of an engine that has computed nothing. */
  readonly #noStats: NativeStats;
  readonly #parallel: number;
  #lastRequest = 0;
  #reportsBlocks = false;

  constructor(supervisor: Supervisor, stats: NativeStats, parallel: number) {
    this.#supervisor = supervisor;
    this.#noStats = stats;
    this.#parallel = parallel;
  }

  /** Returns at once: if the engine refuses the request, the reason becomes its only event. Throws `engine_crashed`. */
  submit(request: NativeRequest): number {
    const process = this.#running();
    const { images, constraint, ...rest } = request;
    const remote = {
      ...rest,
      images: images === null ? null : numberIn(process, images),
      constraint: constraint === null ? null : numberIn(process, constraint),
    };
    const id = (this.#lastRequest += 1);
    process.start({ kind: "submit", id, request: remote }, requestShape(request));
    return id;
  }

  embed(texts: readonly Int32Array[], limits: NativeMemoryLimits): number {
    const id = (this.#lastRequest += 1);
    const tokens = texts.reduce((sum, { length }) => sum + length, 0);
    const shape = { kind: "embeddings", texts: texts.length, tokens } as const;
    this.#running().start({ kind: "embed", id, texts, limits }, shape);
    return id;
  }

  cancel(id: number): void {
    this.#supervisor.running?.post({ kind: "cancel", id });
  }

  endThought(id: number): void {
    this.#supervisor.running?.post({ kind: "endThought", id });
  }

  changeSlot(command: NativeSlotCommand): NativeSlotWork {
    const aborting = new AbortController();
    const { signal } = aborting;
    const done = this.#running().call("changeSlot", [command], { signal });
    return { done, abort: () => aborting.abort() };
  }

  reportBlocks(isAnew: boolean): void {
    if (this.#reportsBlocks) return this.#supervisor.running?.post({ kind: "reportBlocks", isAnew });
    this.#reportsBlocks = true;
    const follow = async (process: EngineProcess): Promise<void> =>
      process.post({ kind: "reportBlocks", isAnew: true });
    this.#supervisor.setUp(follow).catch(() => {}); // it has ended: there is nothing to report
  }

  /** The engine's last counters. Requests in flight are counted here, because those counters may be a moment old. */
  stats(): NativeStats {
    const process = this.#supervisor.running;
    const stats = process?.stats ?? this.#noStats;
    const inFlight = [...(process?.requests.values() ?? [])];
    const generations = inFlight.filter(({ kind }) => kind === "generation").length;
    const waiting = Math.min(inFlight.length, Math.max(stats.waiting, generations - this.#parallel));
    return { ...stats, waiting, running: inFlight.length - waiting };
  }

  /** Also ends the process: all its memory is free when this resolves. */
  async dispose(): Promise<void> {
    await this.#supervisor.running?.call("disposeEngine", []).catch(() => {}); // it has crashed: there is nothing left to end
    await this.#supervisor.end();
  }

  #running(): EngineProcess {
    const process = this.#supervisor.running;
    if (process === undefined) throw lostObject();
    return process;
  }
}
