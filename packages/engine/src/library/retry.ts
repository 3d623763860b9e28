// Retries temporary failures of downloads: broken connections, busy registries and hubs. It counts only failures without progress
// between them, and waits as long as `Retry-After` says.
import { setTimeout as sleep } from "node:timers/promises";
import type { EngineError } from "../base/errors.ts";

/** A failure that may be temporary. If it persists, the caller gets `final`. */
export class TemporaryFailure extends Error {
  readonly final: EngineError;
  /** From the server's Retry-After header. */
  readonly retryAfterMs: number | undefined;

  constructor(final: EngineError, retryAfterMs?: number) {
    super(final.message, { cause: final });
    this.final = final;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Sleeps before the next attempt. Throws to give up: the signal's reason, or `failure.final`. */
export type Wait = (ms: number, options: WaitOptions) => Promise<void>;

export interface WaitOptions {
  signal?: AbortSignal | undefined;
  /** Why the last attempt failed. */
  failure?: TemporaryFailure | undefined;
}

interface RetryOptions {
  /** Gives up after this many failures without progress. */
  failuresMax: number;
  /** A number that grows with the task's progress, which resets the count of failures. */
  progress?: () => number;
  wait?: Wait | undefined;
  signal?: AbortSignal | undefined;
}

/** `failuresMax` of small requests: gives up after 3.5 seconds, so that a user without network soon knows it. */
export const smallFailuresMax = 4;
const firstDelayMs = 500;
const delayMaxMs = 15_000;
/** Longer delays of Retry-After are shortened: users do not wait longer. */
const retryAfterMaxMs = 60_000;

/** Runs the task until it succeeds. Throws errors that are not temporary, and `final` of the last temporary failure. */
export async function retry<T>(task: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { failuresMax, progress = () => 0, wait = pause, signal } = options;
  let furthest = progress();
  let failures = 0;
  for (;;) {
    try {
      return await task();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof TemporaryFailure)) throw error;
      if (progress() > furthest) failures = 0;
      furthest = Math.max(furthest, progress());
      failures += 1;
      if (failures >= failuresMax) throw error.final;
      await wait(delayMs(error, failures), { signal, failure: error });
    }
  }
}

function delayMs(failure: TemporaryFailure, failures: number): number {
  const backoffMs = Math.min(firstDelayMs * 2 ** (failures - 1), delayMaxMs);
  return Math.max(backoffMs, Math.min(failure.retryAfterMs ?? 0, retryAfterMaxMs));
}

/** Sleeps; rejects with the signal's reason. */
export const pause: Wait = async (ms, { signal }) => {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
};

/** Temporary statuses: timeouts, too early, too many requests, and everything from 500. */
const laterStatuses = new Set([408, 420, 425, 429]);

export function isLaterStatus(status: number): boolean {
  return laterStatuses.has(status) || status >= 500;
}

/** The milliseconds of a Retry-After header, which is a number of seconds or a date. */
export function parseRetryAfter(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}

/** Whether an error code means an untrusted certificate, which is not temporary. */
export function certificateProblem(code: string): boolean {
  return code.startsWith("ERR_TLS") || /CERT|UNABLE_TO_VERIFY|DEPTH_ZERO/.test(code);
}
