// One job: what it does, how far it is, and how it ended. Only the job runner changes its state.
//
//   waiting ──▶ running ──▶ done
//     ▲ ▲          │ ├────▶ failed ───┐
//     │ └─ resume ─┼─┼── paused       │
//     │            └─┴─▶ cancelled    │
//     └──────────────── resume ───────┘   (downloads)
import type { Job, JobKind, JobRequest } from "@ingle/protocol";
import { sentenceOf } from "../models/managed-model.ts";
import { TransferRate } from "./transfer-rate.ts";

/** Progress of the work. `waiting`: another process does the work, and these are its bytes. */
export interface JobProgress {
  phase: "waiting" | NonNullable<Job["phase"]>;
  bytes: number;
  totalBytes: number;
}

/** What stops a job's work before its end. */
export type Stop = "paused" | "cancelled";

export interface KeptJobOptions {
  id: string;
  request: JobRequest;
  /** Unix milliseconds. */
  createdAt: number;
  /** Milliseconds on a clock that never goes back. */
  now: () => number;
}

export class KeptJob {
  readonly id: string;
  readonly request: JobRequest;
  readonly #createdAt: number;
  readonly #now: () => number;
  readonly #rate = new TransferRate();
  #status: Job["status"] = "waiting";
  #model: string;
  #progress: JobProgress | undefined;
  #error: string | null = null;

  constructor({ id, request, createdAt, now }: KeptJobOptions) {
    this.id = id;
    this.request = request;
    this.#model = request.kind === "import" ? request.path : request.model;
    this.#createdAt = createdAt;
    this.#now = now;
  }

  get kind(): JobKind {
    return this.request.kind;
  }

  get status(): Job["status"] {
    return this.#status;
  }

  /** The requested id, then the resolved one. */
  get model(): string {
    return this.#model;
  }

  /** It has ended; only a download can still be resumed. */
  get isOver(): boolean {
    return this.#status === "done" || this.#status === "failed" || this.#status === "cancelled";
  }

  /** Only downloads can be paused: a conversion would start over. */
  get canPause(): boolean {
    return this.kind === "pull" && isUnderWay(this) && this.#progress?.phase !== "convert";
  }

  get canResume(): boolean {
    return this.kind === "pull" && (this.#status === "paused" || this.#status === "failed");
  }

  queue(): void {
    this.#status = "waiting";
    this.#error = null;
    this.#rate.reset();
  }

  begin(): void {
    this.#status = "running";
    this.#progress = undefined;
  }

  report(progress: JobProgress, model: string = this.#model): void {
    this.#model = model;
    if (progress.phase !== this.#progress?.phase) this.#rate.reset();
    this.#progress = progress;
    this.#rate.note(progress.bytes, this.#now());
  }

  finish(model: string): void {
    this.#status = "done";
    this.#model = model;
  }

  stop(how: Stop): void {
    this.#status = how;
  }

  fail(error: unknown): void {
    this.#status = "failed";
    this.#error = sentenceOf(error);
  }

  toJob(): Job {
    const { request } = this;
    const { phase, bytes = 0, totalBytes = 0 } = this.#progress ?? {};
    const isHeldUp = this.#status === "running" && phase === "waiting";
    const isWorking = this.#status === "running" && phase !== undefined && phase !== "waiting";
    return {
      id: this.id,
      kind: request.kind,
      status: isHeldUp ? "waiting" : this.#status,
      model: this.#model,
      source: request.kind === "import" ? request.path : null,
      quantization: request.kind === "quantize" ? request.quantization : null,
      phase: isWorking ? phase : null,
      bytes: this.#status === "done" ? totalBytes : bytes,
      total_bytes: totalBytes,
      bytes_per_second: isWorking ? this.#rate.perSecond(bytes, this.#now()) : null,
      can_pause: this.canPause,
      error: this.#error,
      created_at: Math.floor(this.#createdAt / 1000),
    };
  }
}

/** Whether a job runs or will. */
export function isUnderWay({ status }: Pick<Job, "status">): boolean {
  return status === "waiting" || status === "running";
}
