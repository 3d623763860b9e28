// Threads that parse and check large bodies, so that other requests do not wait.
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { packageFolder } from "../this-package.ts";
import { WireError } from "../wire-error.ts";
import type { CheckedBody } from "./check-body.ts";

/** A body to check. The pieces' memory is transferred to the thread. */
export interface BodyCheck {
  pieces: Uint8Array<ArrayBuffer>[];
  /** Id of a schema that the protocol exports; without one, only the JSON is checked. */
  schemaId: string | undefined;
}

interface Job extends BodyCheck {
  settle: (outcome: CheckedBody | Error) => void;
}

/** The second one serves others while the largest body occupies the first. */
const workersMax = 2;
/** Maximum number of bodies that wait for a thread: each takes milliseconds, and plugins/bodies.ts bounds their memory. */
const waitingMax = 1_024;
/** Megabytes of a thread's heap: several times what the largest body may become. */
const heapMegabytesMax = 1_024;

// The built file: a thread cannot run TypeScript.
const program = path.join(packageFolder, "dist/bodies/body-worker.js");

export class BodyWorkers implements AsyncDisposable {
  readonly #waiting: Job[] = [];
  readonly #idle: Worker[] = [];
  readonly #busy = new Map<Worker, Job>();

  /**
   * Checks a body. The threads start with the first bodies. Rejects with the signal's reason as soon as it is aborted, and with
   * `overloaded` if too many are waiting.
   */
  async check(body: BodyCheck, signal: AbortSignal): Promise<CheckedBody> {
    signal.throwIfAborted();
    if (this.#waiting.length >= waitingMax)
      throw new WireError("overloaded", "Too many large bodies wait to be read; try again shortly.");
    const outcome = await this.#outcomeOf(body, signal);
    // Receiving the value blocked the event loop for some milliseconds, so let other requests go first.
    await setImmediate();
    if (outcome instanceof Error) throw outcome;
    return outcome;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const workers = [...this.#idle.splice(0), ...this.#busy.keys()];
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  #outcomeOf(body: BodyCheck, signal: AbortSignal): Promise<CheckedBody | Error> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        const place = this.#waiting.indexOf(job);
        if (place >= 0) this.#waiting.splice(place, 1);
        reject(signal.reason); // oxlint-disable-line prefer-promise-reject-errors -- an abort's reason is what rejects
      };
      const job: Job = {
        ...body,
        settle: (outcome) => {
          signal.removeEventListener("abort", onAbort);
          resolve(outcome);
        },
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.push(job);
      this.#next();
    });
  }

  /** Gives the next body to an idle thread. */
  #next(): void {
    if (this.#waiting.length === 0) return;
    const worker = this.#idle.pop() ?? (this.#busy.size < workersMax ? this.#start() : undefined);
    const job = worker === undefined ? undefined : this.#waiting.shift();
    if (worker === undefined || job === undefined) return;
    this.#busy.set(worker, job);
    const { pieces, schemaId } = job;
    const body: BodyCheck = { pieces, schemaId };
    worker.postMessage(
      body,
      pieces.map(({ buffer }) => buffer),
    );
  }

  #start(): Worker {
    const worker = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax } });
    worker.unref(); // the connection that waits keeps the process alive
    worker.on("message", (outcome: CheckedBody) => {
      this.#settle(worker, outcome);
      this.#idle.push(worker);
      this.#next();
    });
    let death = new Error("A thread that reads bodies ended.");
    worker.on("error", (error: Error) => {
      death = error;
    });
    worker.on("exit", () => {
      const place = this.#idle.indexOf(worker);
      if (place >= 0) this.#idle.splice(place, 1);
      this.#settle(worker, death);
      this.#next();
    });
    return worker;
  }

  #settle(worker: Worker, outcome: CheckedBody | Error): void {
    this.#busy.get(worker)?.settle(outcome);
    this.#busy.delete(worker);
  }
}
