// Keeps the process of a model's engine running: after a crash, starts another one and sets it up like the first.
import { setTimeout as pause } from "node:timers/promises";
import { EngineError, isCrash } from "../../base/errors.ts";
import { toEngineError, type NativeBlocksEvent, type NativeEvent, type NativeStats } from "../addon.ts";
import { engineCrashed, writeCrashReport, type ProcessExit } from "./crash-report.ts";
import { EngineProcess } from "./engine-process.ts";

/** A crash of an engine's process. */
export interface EngineCrash {
  /** The error that its running requests got. */
  error: EngineError;
  /** Resolves with the path of the crash report, or with why there is none. */
  report: Promise<string>;
  /** The engine's last counters, which then start again at 0; undefined if it had not computed anything. */
  stats: NativeStats | undefined;
}

/** The process of a model's engine. */
export interface ModelProcess {
  readonly pid: number | undefined;
  /** Its memory in RAM including mapped weights, as last reported; 0 while it is being restarted. */
  readonly memoryBytes: number;
  /** Whether it has crashed and is being restarted: requests wait. */
  readonly isRestarting: boolean;
  /** Crashes since the model was loaded. */
  readonly crashes: number;
  /** Called after each crash. */
  onCrash: ((crash: EngineCrash) => void) | undefined;
}

/** The process is for its first model; others are drafts for it. */
export const firstModel = 0;

/** After the first crash, a new process starts at once; the pauses before further ones double. */
const pauseMsMin = 1_000;
const pauseMsMax = 60_000;
/** A process that has run for this long counts as stable, which resets the pauses. */
const stableMs = 10 * 60_000;

/** A step that a process must do before it can be used. */
type Step<T> = (process: EngineProcess) => Promise<T>;

export class Supervisor implements ModelProcess {
  onCrash: ModelProcess["onCrash"];
  /** Gets the engine's events, and an error for each request that a crash has ended. */
  onEvents: (events: (NativeEvent | NativeBlocksEvent)[]) => void = () => {};
  /** Resolves with the reason when the process cannot be brought back after a crash. */
  readonly lost: Promise<EngineError>;
  readonly #stepTimeoutMs: number;
  readonly #files: string[] = [];
  readonly #steps: Step<unknown>[] = [];
  readonly #stopping = new AbortController();
  #lose: (error: EngineError) => void = () => {};
  #process: EngineProcess;
  #usable: Promise<EngineProcess>;
  /** False until the engine has started: a process that crashes while it loads a model is not started again. */
  #restarts = false;
  #isRestarting = false;
  /** Of the last crash. */
  #report: Promise<string> | undefined;
  #crashes = 0;
  /** Number of crashes since a process was stable. */
  #recentCrashes = 0;

  constructor({ stepTimeoutMs }: { stepTimeoutMs: number }) {
    this.#stepTimeoutMs = stepTimeoutMs;
    this.lost = new Promise((resolve) => (this.#lose = resolve));
    this.#process = this.#start();
    this.#usable = Promise.resolve(this.#process);
  }

  get pid(): number | undefined {
    return this.running?.pid;
  }

  get memoryBytes(): number {
    return this.running?.memoryBytes ?? 0;
  }

  get isRestarting(): boolean {
    return this.#isRestarting;
  }

  get crashes(): number {
    return this.#crashes;
  }

  /** The process, unless it has crashed and is not back yet. */
  get running(): EngineProcess | undefined {
    return this.#isRestarting ? undefined : this.#process;
  }

  /** Resolves with the process; after a crash, once it is back. Rejects with the reason of its end. */
  usable(): Promise<EngineProcess> {
    return this.#usable;
  }

  /** The number of another model, whose file is named in crash reports. */
  addModel(file: string): number {
    return this.#files.push(file) - 1;
  }

  /** Runs a step now, and again in each process that replaces a crashed one. Rejects with what the step throws. */
  async setUp<T>(step: Step<T>): Promise<T> {
    this.#steps.push(step);
    return await this.#set(await this.#usable, step);
  }

  /** From now on, a process that crashes is started again. */
  restartCrashed(): void {
    this.#restarts = true;
  }

  /** Ends the process; calls in flight and later ones reject with the reason. Resolves when its memory is free. Idempotent. */
  async end(reason: Error = new EngineError("disposed", "The model was disposed.")): Promise<void> {
    this.#stopping.abort(reason);
    await this.#process.end(reason);
  }

  #start(): EngineProcess {
    const process = new EngineProcess({
      stepTimeoutMs: this.#stepTimeoutMs,
      onEvents: (events) => this.onEvents(events),
      onCrash: (ending) => this.#crashed(process, ending),
    });
    return process;
  }

  #crashed(process: EngineProcess, ending: ProcessExit): void {
    const { pid, uptimeMs, stats } = process;
    const requests = [...process.requests.values()];
    const error = engineCrashed(ending);
    const report = writeCrashReport({ models: this.#files, pid, uptimeMs, ending, requests, stats }).catch(
      (reason: unknown) => `There is no crash report: ${String(reason)}`,
    );
    this.#report = report;
    if (!this.#restarts || this.#isRestarting) return; // it was being set up, which fails with the error
    this.#crashes += 1;
    this.#isRestarting = true;
    if (uptimeMs > stableMs) this.#recentCrashes = 0;
    this.#usable = this.#restart(pauseMs(this.#recentCrashes++));
    this.#usable.catch(() => {}); // calls report it
    this.onCrash?.({ error, report, stats });
    const { message } = error;
    this.onEvents(
      [...process.requests.keys()].map((id) => ({ id, type: "error", code: "engine_crashed", message })),
    );
  }

  /** Runs a step in a process that is being set up. If the process crashes, the error names the report. */
  async #set<T>(process: EngineProcess, step: Step<T>): Promise<T> {
    try {
      return await step(process);
    } catch (error) {
      if (!isCrash(error)) throw error;
      const report = await this.#report;
      throw new EngineError(error.code, error.message, { details: report === undefined ? {} : { report } });
    }
  }

  async #restart(afterMs: number): Promise<EngineProcess> {
    const { signal } = this.#stopping;
    try {
      await pause(afterMs, undefined, { signal });
      signal.throwIfAborted();
      this.#process = this.#start();
      for (const step of this.#steps) await this.#set(this.#process, step);
      this.#isRestarting = false;
      return this.#process;
    } catch (thrown) {
      signal.throwIfAborted();
      const error = toEngineError(thrown);
      const reason = EngineError.is(error)
        ? error
        : new EngineError("engine_failed", String(error), { cause: error });
      await this.end(reason);
      this.#lose(reason);
      throw reason;
    }
  }
}

/** The pause before the next start, after this many recent crashes. */
function pauseMs(crashes: number): number {
  return crashes === 0 ? 0 : Math.min(pauseMsMax, pauseMsMin * 2 ** (crashes - 1));
}
