// One job: its work, its progress, and how it ended. Only the job runner changes its state.
//
//   waiting ──▶ running ──▶ done
//     ▲ ▲          │ ├────▶ failed ───┐
//     │ └─ resume ─┼─┼── paused       │
//     │            └─┴─▶ cancelled    │
//     └──────────────── resume ───────┘   (downloads)
import type { Job, JobKind, JobRequest } from "@ingle/protocol";
import { ChangeSignal } from "../signals.ts";
import { toFailure, noFailure, type Failure } from "../models/model-errors.ts";
import { toUnixSeconds } from "../seconds.ts";
import { TransferRate } from "./transfer-rate.ts";

/** Progress of the work. `waiting`: another process does the work, and these are its bytes. */
export interface JobProgress {
  phase: "waiting" | NonNullable<Job["phase"]>;
  bytes: number;
  totalBytes: number;
}

/** The ways to stop a job's work early. */
export type Stop = "paused" | "cancelled";

interface KeptJobOptions {
  id: string;
  request: JobRequest;
  wallClock: () => Date;
  /** Milliseconds of a monotonic clock. */
  now: () => number;
}

export class KeptJob {
  readonly id: string;
  readonly request: JobRequest;
  readonly changes = new ChangeSignal();
  readonly #createdAt: Date;
  readonly #wallClock: () => Date;
  readonly #now: () => number;
  readonly #rate = new TransferRate();
  #status: Job["status"] = "waiting";
  #model: string;
  #progress: JobProgress | undefined;
  #failure: Failure = noFailure;
  #endedAt: Date | null = null;

  constructor({ id, request, wallClock, now }: KeptJobOptions) {
    this.id = id;
    this.request = request;
    this.#model = request.kind === "import" ? request.path : request.model;
    this.#createdAt = wallClock();
    this.#wallClock = wallClock;
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
    this.#failure = noFailure;
    this.#rate.reset();
    this.#move("waiting");
  }

  begin(): void {
    this.#progress = undefined;
    this.#move("running");
  }

  report(progress: JobProgress, model: string = this.#model): void {
    this.#model = model;
    if (progress.phase !== this.#progress?.phase) this.#rate.reset();
    this.#progress = progress;
    this.#rate.note(progress.bytes, this.#now());
    this.changes.note();
  }

  finish(model: string): void {
    this.#model = model;
    this.#move("done");
  }

  stop(how: Stop): void {
    this.#move(how);
  }

  fail(error: unknown): void {
    this.#failure = toFailure(error);
    this.#move("failed");
  }

  #move(status: Job["status"]): void {
    this.#status = status;
    this.#endedAt = this.isOver ? this.#wallClock() : null;
    this.changes.note();
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
      ...this.#failure,
      created_at: toUnixSeconds(this.#createdAt),
      ended_at: this.#endedAt === null ? null : toUnixSeconds(this.#endedAt),
    };
  }
}

/** Whether a job runs or will. */
export function isUnderWay({ status }: Pick<Job, "status">): boolean {
  return status === "waiting" || status === "running";
}
