// Threads that read and check large bodies, so that nobody else waits for that. Used by plugins/json-body.ts.
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { WireError } from "../wire-error.ts";
import type { CheckedBody } from "./check-body.ts";

/** What a thread is told; the pieces' memory is the thread's from then on. */
export interface BodyOrder {
  pieces: Uint8Array<ArrayBuffer>[];
  /** Of a schema that the protocol exports; without one the body is only read. */
  schemaId: string | undefined;
}

interface Job extends BodyOrder {
  settle: (outcome: CheckedBody | Error) => void;
}

/** The second one is there for the moment in which somebody's largest body occupies the first. */
const workersMax = 2;
/** Bodies that wait for a thread: each takes milliseconds, and their memory is counted elsewhere. */
const waitingMax = 1_024;
/** Megabytes of a thread's objects: what the largest body may become, several times. */
const heapMegabytesMax = 1_024;
/** Seconds after which the line may be shorter. */
const retryAfterSeconds = 2;

// The name in the build, found from there and from the sources: a thread does not read TypeScript.
const program = fileURLToPath(new URL("../../dist/bodies/body-worker.js", import.meta.url));

export class BodyWorkers implements AsyncDisposable {
  readonly #waiting: Job[] = [];
  readonly #idle: Worker[] = [];
  readonly #busy = new Map<Worker, Job>();

  /**
   * Checks a body. The threads start with the first ones. Rejects with the signal's reason as soon as it is aborted, and with
   * `overloaded` where too many wait.
   */
  async check(order: BodyOrder, signal: AbortSignal): Promise<CheckedBody> {
    signal.throwIfAborted();
    if (this.#waiting.length >= waitingMax)
      throw new WireError("overloaded", "Too many large bodies wait to be read; try again shortly.", {
        retryAfterSeconds,
      });
    const outcome = await this.#outcomeOf(order, signal);
    // Taking it over has kept everybody waiting for some milliseconds: what is made of it begins anew.
    await setImmediate();
    if (outcome instanceof Error) throw outcome;
    return outcome;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const workers = [...this.#idle.splice(0), ...this.#busy.keys()];
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  #outcomeOf(order: BodyOrder, signal: AbortSignal): Promise<CheckedBody | Error> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        const place = this.#waiting.indexOf(job);
        if (place >= 0) this.#waiting.splice(place, 1);
        reject(signal.reason); // oxlint-disable-line prefer-promise-reject-errors -- an abort's reason is what rejects
      };
      const job: Job = {
        ...order,
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

  /** Gives the next body to a thread that has none. */
  #next(): void {
    if (this.#waiting.length === 0) return;
    const worker = this.#idle.pop() ?? (this.#busy.size < workersMax ? this.#start() : undefined);
    const job = worker === undefined ? undefined : this.#waiting.shift();
    if (worker === undefined || job === undefined) return;
    this.#busy.set(worker, job);
    const { pieces, schemaId } = job;
    const order: BodyOrder = { pieces, schemaId };
    worker.postMessage(
      order,
      pieces.map(({ buffer }) => buffer),
    );
  }

  #start(): Worker {
    const worker = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax } });
    worker.unref(); // the connection that waits for it keeps the process
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
