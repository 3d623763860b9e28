// The program of an engine's process: runs the addon for the parent, and ends with it. It imports as little as possible, because
// every model pays for imports in time and memory.
import { writeSync } from "node:fs";
import {
  confineProcess,
  endWhenDeviceIsLost,
  keepMemoryTight,
  loadNative,
  setLogSink,
  type AddonModel,
  type NativeConstraint,
  type NativeEngine,
  type NativeEventPipe,
  type NativeImages,
  type NativePrompt,
  type NativeReplyParser,
} from "../addon.ts";
import {
  heartbeatMs,
  stepReportsFd,
  type CallCommand,
  type CallName,
  type Command,
  type EngineCalls,
  type Failure,
  type ObjectNumber,
  type RemotePrompt,
  type Report,
} from "./messages.ts";

/** Sends reports in their order, at most one message at a time: while the parent is slow, reports gather in the next one. */
class Outbox {
  #reports: Report[] = [];
  #isSending = false;

  add(report: Report): void {
    this.#reports.push(report);
    if (!this.#isSending) this.#send();
  }

  #send(): void {
    const reports = this.#reports;
    this.#reports = [];
    this.#isSending = true;
    process.send?.(reports, undefined, undefined, () => {
      this.#isSending = false;
      if (this.#reports.length > 0) this.#send();
    });
  }
}

/** Objects of the addon that the parent knows by number. */
class Kept<T> {
  static #last: ObjectNumber = 0;
  readonly #objects = new Map<ObjectNumber, T>();

  add(object: T): ObjectNumber {
    Kept.#last += 1;
    this.#objects.set(Kept.#last, object);
    return Kept.#last;
  }

  get(number: ObjectNumber): T {
    const object = this.#objects.get(number);
    if (object === undefined) throw new Error(`The engine's process has no object ${number}.`);
    return object;
  }

  /** Removes and returns the object; null stands for none. */
  take(number: ObjectNumber | null): T | null {
    if (number === null) return null;
    const object = this.get(number);
    this.#objects.delete(number);
    return object;
  }

  delete(number: ObjectNumber): void {
    this.#objects.delete(number);
  }
}

const outbox = new Outbox();
const models = new Map<number, AddonModel>();
const images = new Kept<NativeImages>();
const constraints = new Kept<NativeConstraint>();
const parsers = new Kept<NativeReplyParser>();
/** The abort functions of the calls in flight. */
const aborts = new Map<number, () => void>();
let engine: NativeEngine | undefined;

function findModel(number: number): AddonModel {
  const model = models.get(number);
  if (model === undefined) throw new Error(`The engine's process has no model ${number}.`);
  return model;
}

function startedEngine(): NativeEngine {
  if (engine === undefined) throw new Error("The engine's process has no engine.");
  return engine;
}

function keep({ images: pixels, constraint, parser, ...prompt }: NativePrompt): RemotePrompt {
  return {
    ...prompt,
    images: pixels === null ? null : images.add(pixels),
    constraint: constraint === null ? null : constraints.add(constraint),
    parser: parser === null ? null : parsers.add(parser),
  };
}

type Calls = {
  [Name in CallName]: (
    call: number,
    ...args: Parameters<EngineCalls[Name]>
  ) => Promise<ReturnType<EngineCalls[Name]>>;
};

const calls: Calls = {
  loadModel: async (call, number, options) => {
    const onProgress = (fraction: number): void => outbox.add({ kind: "progress", id: call, fraction });
    const model = await (await loadNative(options, onProgress)).model;
    models.set(number, model);
    return model.info;
  },
  disposeModel: async (_, number) => {
    findModel(number).dispose();
    models.delete(number);
  },
  createEngine: async (_, model, options, draft) => {
    engine = await findModel(model).createEngine(
      options,
      stepReports,
      draft === undefined ? undefined : findModel(draft),
    );
    // By now, everything that would be refused is open.
    const restricted = await confineProcess(options.stateFile, options.slotDir);
    const text = `The engine's process restricts itself: ${restricted.length === 0 ? "nothing" : restricted.join(", ")}.`;
    outbox.add({ kind: "log", level: 2, text });
    return engine.stats();
  },
  disposeEngine: async () => {
    const ending = startedEngine();
    engine = undefined; // a disposed one has no counters
    await ending.dispose();
  },
  changeSlot: async (call, command) => {
    const work = startedEngine().changeSlot(command);
    aborts.set(call, () => work.abort());
    try {
      return await work.done;
    } finally {
      aborts.delete(call);
    }
  },
  tokenize: async (_, model, ...args) => await findModel(model).tokenize(...args),
  detokenize: async (_, model, ...args) => await findModel(model).detokenize(...args),
  pieces: async (_, model, tokens) => await findModel(model).pieces(tokens),
  applyChatTemplate: async (_, model, chat) => await findModel(model).applyChatTemplate(chat),
  prepareChat: async (call, model, chat) => {
    const preparation = findModel(model).prepareChat(chat);
    aborts.set(call, () => preparation.abort());
    try {
      return keep(await preparation.prompt);
    } finally {
      aborts.delete(call);
    }
  },
  prepareImages: async (_, model, text) => {
    const { tokens, images: pixels } = await findModel(model).prepareImages(text);
    return { tokens, images: pixels === null ? null : images.add(pixels) };
  },
  prepareGrammar: async (_, model, grammar) =>
    constraints.add(await findModel(model).prepareGrammar(grammar)),
  parseReply: async (_, model, parser, ...args) =>
    await findModel(model).parseReply(parsers.get(parser), ...args),
};

/** The data with which the parent can throw the error again. */
function toFailure(thrown: unknown): Failure {
  if (!(thrown instanceof Error)) return { code: undefined, message: String(thrown), details: undefined };
  const { code, details } = thrown as Error & Partial<Failure>;
  return { code, message: thrown.message, details };
}

async function run<Name extends CallName>({ id, name, args }: CallCommand<Name>): Promise<void> {
  beat();
  try {
    outbox.add({ kind: "done", id, result: await calls[name](id, ...args) });
  } catch (thrown) {
    outbox.add({ kind: "failed", id, ...toFailure(thrown) });
  }
}

/** Gives a request to the engine. If the engine refuses it, its only event is the error. */
function start(id: number, submit: (to: NativeEngine) => void): void {
  beat();
  try {
    submit(startedEngine());
  } catch (thrown) {
    outbox.add({ kind: "refused", id, ...toFailure(thrown) });
  }
}

/** Synchronous: while the parent is slow to read, this process has nothing else to do. */
const stepReports: NativeEventPipe = {
  fd: stepReportsFd,
  write: (bytes) => {
    for (let at = 0; at < bytes.length;) at += writeSync(stepReportsFd, bytes, at);
  },
};

function reportStats(): void {
  if (engine !== undefined) outbox.add({ kind: "stats", stats: engine.stats() });
}

let heartbeat: NodeJS.Timeout | undefined;
let isAtRest = false;

/** Reports regularly until the parent says that nothing is in flight, and once more after that. */
function beat(): void {
  isAtRest = false;
  heartbeat ??= setInterval(() => {
    reportStats();
    outbox.add({ kind: "alive", memoryBytes: process.memoryUsage.rss() });
    if (!isAtRest) return;
    clearInterval(heartbeat);
    heartbeat = undefined;
  }, heartbeatMs);
}

function handle(command: Command): void {
  switch (command.kind) {
    case "call":
      void run(command); // it reports its own failures
      break;
    case "abort":
      aborts.get(command.id)?.();
      break;
    case "submit": {
      const { images: pixels, constraint, ...request } = command.request;
      const taken = { images: images.take(pixels), constraint: constraints.take(constraint) };
      start(command.id, (to) => to.submit({ ...request, ...taken }, command.id));
      break;
    }
    case "embed":
      start(command.id, (to) => to.embed(command.texts, command.limits, command.id));
      break;
    case "cancel":
      engine?.cancel(command.id);
      break;
    case "endThought":
      engine?.endThought(command.id);
      break;
    case "reportBlocks":
      engine?.reportBlocks(command.isAnew);
      break;
    case "rest":
      isAtRest = true;
      break;
    case "forget":
      for (const kept of [images, constraints, parsers]) kept.delete(command.object);
      break;
  }
}

process.title = "ingle engine";
// Ctrl-C is sent to every process of a terminal; the parent decides when to stop.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
// Ends with the parent. Only SIGKILL ends a running computation.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
await keepMemoryTight();
await endWhenDeviceIsLost(); // the parent starts another process
await setLogSink((level, text) => outbox.add({ kind: "log", level, text }));
process.on("message", handle); // the parent's first messages wait until now
