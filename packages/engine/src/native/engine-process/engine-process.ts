// The parent's handle of one engine process: starts it, sends it calls and requests, passes on its events, and kills it if it hangs.
import type { ChildProcess } from "node:child_process";
import { Socket } from "node:net";
import { forkProgram, keepStderr } from "../child-program.ts";
import { endsRequest } from "../event-receivers.ts";
import {
  logFromProcess,
  type NativeBlocksEvent,
  type NativeEvent,
  type NativeStats,
  type NativeStepReport,
} from "../addon.ts";
import { engineCrashed, type ProcessExit, type RequestShape } from "./crash-report.ts";
import { Heartbeat } from "./heartbeat.ts";
import {
  stepReportsFd,
  type CallName,
  type Command,
  type EngineCalls,
  type Failure,
  type Message,
  type Report,
} from "./messages.ts";
import { StepReportReader } from "./step-reports.ts";

const program = new URL("engine-child.js", import.meta.url);
/** How many characters of stderr and lines of the log are kept: the last ones explain a crash. */
const stderrLengthMax = 4096;
const logLinesMax = 100;
/** Debug lines may contain parts of a prompt. */
const infoLevel = 2;

interface EngineProcessOptions {
  /** The time without a step of the engine, or without any message, after which the process is killed, in milliseconds. */
  stepTimeoutMs: number;
  onEvents: (events: (NativeEvent | NativeBlocksEvent)[]) => void;
  /** Called when the process has ended by itself and its last messages were delivered, before its calls reject. */
  onCrash: (ending: ProcessExit) => void;
}

interface PendingCall {
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
  onProgress: ((fraction: number) => void) | undefined;
}

export class EngineProcess {
  readonly #child: ChildProcess;
  readonly #options: EngineProcessOptions;
  readonly #heartbeat: Heartbeat;
  readonly #startedAt = performance.now();
  readonly #calls = new Map<number, PendingCall>();
  readonly #requests = new Map<number, RequestShape>();
  readonly #log: string[] = [];
  #lastCall = 0;
  readonly #lastOutput: () => string;
  #stats: NativeStats | undefined;
  #memoryBytes = 0;
  #isHung = false;
  /** Whether it currently keeps this process from exiting. */
  #keepsProcessAlive = true;
  /** Why it was ended on purpose. */
  #reason: Error | undefined;
  /** Once it has ended: the error of every call. */
  #failure: Error | undefined;
  readonly #ended: Promise<void>;

  constructor(options: EngineProcessOptions) {
    this.#options = options;
    this.#heartbeat = new Heartbeat(options.stepTimeoutMs, () => {
      this.#isHung = true;
      this.#child.kill("SIGKILL");
    });
    // Without flags for V8: with any, Node compiles its own modules anew, which takes 10 ms.
    this.#child = forkProgram(program, {
      env: environment(),
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc", "pipe"],
    });
    if (this.#child.stderr instanceof Socket) this.#child.stderr.unref(); // the channel alone keeps this process from exiting
    this.#lastOutput = keepStderr(this.#child, stderrLengthMax);
    this.#child.on("message", (message: Message) => this.#receive(message));
    this.#readStepReports();
    this.#ended = this.#untilEnded();
    this.#settle();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get uptimeMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** The engine's counters as it reported them last; undefined before it has started. */
  get stats(): NativeStats | undefined {
    return this.#stats;
  }

  /** The memory that the process has in RAM, as it reported it last. */
  get memoryBytes(): number {
    return this.#memoryBytes;
  }

  /** The requests in flight, by their numbers. */
  get requests(): ReadonlyMap<number, RequestShape> {
    return this.#requests;
  }

  /**
   * Calls a function of the child. Rejects with the addon's error, with `engine_crashed` if the process ends, or with the reason
   * that `end()` was given. Aborting the signal asks the addon to end the call.
   */
  async call<Name extends CallName>(
    name: Name,
    args: Parameters<EngineCalls[Name]>,
    { signal, onProgress }: { signal?: AbortSignal; onProgress?: (fraction: number) => void } = {},
  ): Promise<ReturnType<EngineCalls[Name]>> {
    if (this.#failure !== undefined) throw this.#failure;
    const id = (this.#lastCall += 1);
    const abort = (): void => this.post({ kind: "abort", id });
    try {
      const result = await new Promise<unknown>((resolve, reject) => {
        this.#calls.set(id, { resolve, reject, onProgress });
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- TypeScript does not connect the name and its arguments
        this.post({ kind: "call", id, name, args } as Command);
        signal?.addEventListener("abort", abort, { once: true });
        if (signal?.aborted === true) abort();
      });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the child returns what this call promises
      return result as ReturnType<EngineCalls[Name]>;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Starts a request; its events arrive with this number. */
  start(command: Extract<Command, { kind: "submit" | "embed" }>, shape: RequestShape): void {
    this.#requests.set(command.id, shape);
    this.post(command);
  }

  /** Sends a message. Does nothing once the process has ended. */
  post(command: Command): void {
    if (this.#child.connected) this.#child.send(command, () => {}); // #untilEnded() handles a process that is gone
    this.#settle();
  }

  /** Ends the process, calls in flight with this reason. Resolves when the system has reclaimed its memory. Idempotent. */
  async end(reason: Error): Promise<void> {
    this.#reason ??= reason;
    this.#child.kill("SIGKILL");
    this.#settle();
    await this.#ended;
  }

  #receive(message: Message): void {
    this.#heartbeat.heard();
    for (const report of message) this.#take(report);
    this.#settle();
  }

  #take(report: Report): void {
    switch (report.kind) {
      case "done":
        this.#calls.get(report.id)?.resolve(report.result);
        this.#calls.delete(report.id);
        break;
      case "failed":
        this.#calls.get(report.id)?.reject(toAddonError(report));
        this.#calls.delete(report.id);
        break;
      case "progress":
        this.#calls.get(report.id)?.onProgress?.(report.fraction);
        break;
      case "refused": {
        const { id, code = "engine_failed", message, details } = report;
        this.#deliver([{ id, type: "error", code, message, details }]);
        break;
      }
      case "stats":
        this.#count(report.stats);
        break;
      case "log":
        logFromProcess(report.level, report.text);
        if (report.level < infoLevel) break;
        this.#log.push(report.text.trimEnd());
        if (this.#log.length > logLinesMax) this.#log.shift();
        break;
      case "alive":
        this.#memoryBytes = report.memoryBytes;
        break;
    }
  }

  /** If this process is slow, events wait in the socket and then in the child. */
  #readStepReports(): void {
    const socket = this.#child.stdio[stepReportsFd];
    if (!(socket instanceof Socket)) return; // the process could not be started
    socket.unref(); // as stderr
    socket.on("error", () => {}); // its end says the same
    const reader = new StepReportReader();
    socket.on("data", (bytes: Buffer) => {
      for (const { events, stats } of this.#stepReportsIn(bytes, reader)) {
        if (stats !== null) this.#count(stats);
        this.#deliver(events);
      }
      this.#settle();
    });
  }

  /** Kills the process if it sends anything else. */
  #stepReportsIn(bytes: Buffer, reader: StepReportReader): NativeStepReport[] {
    try {
      return reader.read(bytes);
    } catch (error) {
      this.#take({ kind: "log", level: 4, text: String(error) });
      this.#child.kill("SIGABRT");
      return [];
    }
  }

  /** Counters arrive on two channels, so older ones may arrive later. */
  #count(stats: NativeStats): void {
    if (this.#stats !== undefined && stats.steps <= this.#stats.steps) return;
    this.#stats = stats;
    this.#heartbeat.stepped();
  }

  #deliver(events: (NativeEvent | NativeBlocksEvent)[]): void {
    this.#heartbeat.stepped();
    for (const event of events)
      if (event.type !== "blocks" && endsRequest(event)) this.#requests.delete(event.id);
    this.#options.onEvents(events);
  }

  /** Ends the requests whose end the process can no longer report. */
  #endRequests({ message }: Error): void {
    const ends = [...this.#requests.keys()].map(
      (id) => ({ id, type: "error", code: "disposed", message }) as const,
    );
    if (ends.length > 0) this.#deliver(ends);
  }

  /** Watches the process, and keeps this one from exiting, while something is in flight. */
  #settle(): void {
    const hasRequests = this.#requests.size > 0;
    const isEnding = this.#reason !== undefined;
    const isBusy = this.#failure === undefined && (hasRequests || this.#calls.size > 0 || isEnding);
    this.#heartbeat.watch({ isBusy, hasRequests });
    if (isBusy === this.#keepsProcessAlive) return;
    this.#keepsProcessAlive = isBusy;
    const { channel } = this.#child;
    if (isBusy) {
      this.#child.ref();
      channel?.ref();
    } else {
      this.post({ kind: "rest" });
      this.#child.unref();
      channel?.unref();
    }
  }

  async #untilEnded(): Promise<void> {
    // An error means that the process could not be started.
    const startError = await new Promise<string>((resolve) => {
      this.#child.once("close", () => resolve(""));
      this.#child.once("error", ({ message }) => resolve(message));
    });
    if (this.#child.connected) await new Promise((resolve) => this.#child.once("disconnect", resolve));
    const { signalCode: signal, exitCode } = this.#child;
    const output = this.#lastOutput();
    const stderr = output === "" ? startError : output;
    const ending = { signal, exitCode, isHung: this.#isHung, log: this.#log, stderr };
    this.#failure = this.#reason ?? engineCrashed(ending);
    this.#settle();
    if (this.#reason === undefined) this.#options.onCrash(ending);
    else this.#endRequests(this.#reason);
    for (const { reject } of this.#calls.values()) reject(this.#failure);
    this.#calls.clear();
  }
}

/** The addon's error, as the addon would have thrown it here. */
function toAddonError({ code, message, details }: Failure): Error {
  return Object.assign(new Error(message), { code, details });
}

/** This process's environment, without secrets. */
function environment(): NodeJS.ProcessEnv {
  const passed = Object.entries(process.env).filter(([name]) => !/KEY|TOKEN|SECRET|PASSWORD/i.test(name));
  return {
    ...Object.fromEntries(passed),
    // io_uring is off, because a confined process may not use it.
    UV_USE_IO_URING: "0",
  };
}
