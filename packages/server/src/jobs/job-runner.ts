// Runs the jobs of a server: several downloads at once, imports and quantizations one after the other. A job outlives the
// request that started it, and ends with the server.
import { randomUUID } from "node:crypto";
import { jobsMax, type Job, type JobRequest } from "@ingle/protocol";
import type { ModelLibrary } from "../models/library/model-library.ts";
import { shuttingDown } from "../models/model-errors.ts";
import type { ModelRegistry } from "../models/registry.ts";
import { WireError } from "../wire-error.ts";
import { isUnderWay, KeptJob, type JobProgress, type Stop } from "./kept-job.ts";

/** Downloads at the same time: one rarely uses all bandwidth, and many are no faster together. */
export const pullsMax = 3;
/** Imports and quantizations at the same time: each uses the whole processor or disk. */
const othersMax = 1;

interface JobRunnerOptions {
  library: ModelLibrary;
  registry: ModelRegistry;
  /** Called for each job that fails; the job contains the error too. */
  onFailure?: ((error: unknown, about: Pick<Job, "id" | "kind">) => void) | undefined;
  /** Default: the system's clock. */
  wallClock?: (() => Date) | undefined;
  /** A monotonic clock in milliseconds. Default: the process's. */
  now?: (() => number) | undefined;
}

/** A job that is running. */
interface Run {
  readonly abort: AbortController;
  /** Why it was aborted; undefined if it was not. */
  stop: Stop | undefined;
  /** Resolves when it has ended, in whatever way. */
  readonly ended: Promise<void>;
}

export class JobRunner implements AsyncDisposable {
  readonly #options: JobRunnerOptions;
  /** The oldest first. */
  readonly #jobs = new Map<string, KeptJob>();
  readonly #runs = new Map<KeptJob, Run>();
  /** Jobs that wait to run. */
  #queue: KeptJob[] = [];
  #isClosed = false;

  constructor(options: JobRunnerOptions) {
    this.#options = options;
  }

  /** The newest first. */
  list(): Job[] {
    return [...this.#jobs.values()].toReversed().map((job) => job.toJob());
  }

  /**
   * Starts a job, or continues the one that already does the same work. Throws `overloaded` if there are too many unfinished
   * jobs, and `shutting_down`.
   */
  start(request: JobRequest): Job {
    if (this.#isClosed) throw shuttingDown();
    const present = [...this.#jobs.values()].find((job) => isSame(job, request));
    if (present !== undefined) {
      if (present.canResume) this.#enqueue(present);
      return present.toJob();
    }
    this.#dropOldest();
    const { wallClock = () => new Date(), now = () => performance.now() } = this.#options;
    const job = new KeptJob({ id: randomUUID(), request, wallClock, now });
    this.#jobs.set(job.id, job);
    this.#enqueue(job);
    return job.toJob();
  }

  /**
   * Yields the job now and after each change, until it is no longer in progress. Changes while nobody reads are merged.
   * Throws `not_found`, and the signal's reason.
   */
  async *follow(id: string, signal: AbortSignal): AsyncGenerator<Job, void, undefined> {
    const job = this.#known(id);
    const { changes } = job;
    for (;;) {
      const { count } = changes;
      const isLast = !isUnderWay(job);
      yield job.toJob();
      if (isLast) return;
      if (changes.count === count) await changes.next(signal);
    }
  }

  /**
   * Interrupts a download; the downloaded part stays. Throws `not_found`, and `invalid_request` for a job that cannot be paused.
   */
  async pause(id: string): Promise<Job> {
    const job = this.#known(id);
    if (job.status !== "paused") {
      if (!job.canPause) throw refused(job, "paused");
      await this.#stop(job, "paused");
    }
    return job.toJob();
  }

  /** Continues a download that was paused or has failed. Throws as `pause()`, and `shutting_down`. */
  resume(id: string): Job {
    if (this.#isClosed) throw shuttingDown();
    const job = this.#known(id);
    if (job.canResume) this.#enqueue(job);
    else if (!isUnderWay(job)) throw refused(job, "resumed");
    return job.toJob();
  }

  /** Ends a job for good. The downloaded part stays until the library is pruned. Throws as `pause()`. */
  async cancel(id: string): Promise<Job> {
    const job = this.#known(id);
    if (job.status === "done") throw refused(job, "cancelled");
    if (job.status !== "cancelled") await this.#stop(job, "cancelled");
    return job.toJob();
  }

  /** Cancels waiting jobs, then running ones, and waits until they have ended. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const queued = this.#queue;
    this.#queue = [];
    for (const job of queued) job.stop("cancelled");
    await Promise.all([...this.#runs.keys()].map((job) => this.#stop(job, "cancelled")));
  }

  #known(id: string): KeptJob {
    const job = this.#jobs.get(id);
    if (job !== undefined) return job;
    throw new WireError("not_found", "No job has this id; GET /api/v1/jobs lists all jobs.", {
      param: "id",
    });
  }

  #dropOldest(): void {
    if (this.#jobs.size < jobsMax) return;
    const oldest = [...this.#jobs.values()].find(({ isOver }) => isOver);
    if (oldest === undefined)
      throw new WireError("overloaded", `There are ${jobsMax} jobs already; wait for one, or cancel it.`);
    this.#jobs.delete(oldest.id);
  }

  #enqueue(job: KeptJob): void {
    job.queue();
    this.#queue.push(job);
    this.#begin();
  }

  /** Starts as many waiting jobs as may run. */
  #begin(): void {
    const queued = this.#queue;
    for (const job of queued) {
      const isPull = job.kind === "pull";
      const running = [...this.#runs.keys()].filter(({ kind }) => (kind === "pull") === isPull);
      if (running.length >= (isPull ? pullsMax : othersMax)) continue;
      this.#queue = this.#queue.filter((each) => each !== job);
      this.#run(job);
    }
  }

  #run(job: KeptJob): void {
    const abort = new AbortController();
    job.begin();
    const ended = this.#work(job, abort.signal);
    this.#runs.set(job, { abort, stop: undefined, ended });
  }

  /** Never rejects. */
  async #work(job: KeptJob, signal: AbortSignal): Promise<void> {
    const { library, registry, onFailure } = this.#options;
    try {
      const model = await work(job.request, library, {
        signal,
        onProgress: (progress, id) => job.report(progress, id),
      });
      await registry.refresh({ isNeeded: true });
      job.finish(model);
    } catch (error) {
      const stop = this.#runs.get(job)?.stop;
      if (stop !== undefined) job.stop(stop);
      else {
        job.fail(error);
        onFailure?.(error, job);
      }
    } finally {
      this.#runs.delete(job);
      this.#begin();
    }
  }

  async #stop(job: KeptJob, how: Stop): Promise<void> {
    const run = this.#runs.get(job);
    this.#queue = this.#queue.filter((each) => each !== job);
    if (run === undefined) return job.stop(how);
    run.stop = how;
    run.abort.abort(new WireError("client_closed", `The job was ${how}.`));
    await run.ended;
  }
}

/** Whether this job does what the request asks for, or will once it is resumed. */
function isSame(job: KeptJob, request: JobRequest): boolean {
  if (job.kind !== request.kind || (job.isOver && !job.canResume)) return false;
  const { request: asked } = job;
  if (asked.kind === "import") return request.kind === "import" && asked.path === request.path;
  if (request.kind === "import") return false;
  if (asked.kind === "quantize")
    return (
      request.kind === "quantize" &&
      asked.model === request.model &&
      asked.quantization === request.quantization
    );
  return asked.model === request.model || job.model === request.model;
}

function refused(job: KeptJob, what: "paused" | "resumed" | "cancelled"): WireError {
  const isDownload = job.kind === "pull";
  const why =
    isDownload || what === "cancelled"
      ? `This job is ${job.status} and cannot be ${what}.`
      : `Only downloads can be ${what}; this is ${job.kind === "import" ? "an import" : "a quantization"}.`;
  return new WireError("invalid_request", why, { param: "id" });
}

/** Runs a job's work in the library. Resolves with the id of the new model, or with all ids if there are several. */
async function work(
  request: JobRequest,
  library: ModelLibrary,
  /** `model`: the id of the job's model, as soon as it is known. */
  options: { signal: AbortSignal; onProgress: (progress: JobProgress, model?: string) => void },
): Promise<string> {
  const { signal, onProgress } = options;
  switch (request.kind) {
    case "pull":
      return await library.pull(request.model, {
        signal,
        onProgress: (id, progress) => onProgress(progress, id),
      });
    case "import":
      return (await library.importPath(request.path, options)).join(", ");
    case "quantize":
      return await library.quantize(request.model, {
        to: request.quantization,
        signal,
        onProgress: ({ bytes, totalBytes }) => onProgress({ phase: "quantize", bytes, totalBytes }),
      });
  }
}
