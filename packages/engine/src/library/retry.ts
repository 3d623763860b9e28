// Tries again what may pass by itself: a broken connection, a busy registry or hub. Used for everything that is fetched, so
// that no other place decides what is worth another try.
import { setTimeout as sleep } from "node:timers/promises";
import type { EngineError } from "../errors.ts";

/** A failure that may pass. When it does not, `final` is what the caller gets. */
export class TemporaryFailure extends Error {
  readonly final: EngineError;
  /** What the server asked for in its Retry-After header. */
  readonly retryAfterMs: number | undefined;

  constructor(final: EngineError, retryAfterMs?: number) {
    super(final.message, { cause: final });
    this.final = final;
    this.retryAfterMs = retryAfterMs;
  }
}

export type Wait = (ms: number, options: { signal?: AbortSignal | undefined }) => Promise<void>;

export interface RetryOptions {
  /** Failures in a row, without progress between them, before giving up. */
  failuresMax: number;
  /** A number that grows while the task gets somewhere; the failures are then counted anew. */
  progress?: () => number;
  wait?: Wait | undefined;
  signal?: AbortSignal | undefined;
}

/** Failures in a row before giving up on a small answer: 3.5 seconds, so that a person without network soon knows it. */
export const smallFailuresMax = 4;
const firstDelayMs = 500;
const delayMaxMs = 15_000;
/** A server may ask for more patience than people have. */
const retryAfterMaxMs = 60_000;

/** Runs the task until it succeeds. Throws what is not temporary, and a temporary failure's `final` at the end. */
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
      await wait(delayMs(error, failures), { signal });
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

/** Statuses that say "later": timeouts, too early, too many, and everything from 500. */
const laterStatuses = new Set([408, 420, 425, 429]);

export function isLaterStatus(status: number): boolean {
  return laterStatuses.has(status) || status >= 500;
}

/** Milliseconds of a Retry-After header, which is a number of seconds or a date. */
export function parseRetryAfter(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}

/** Whether a system's error code says that a certificate is not trusted: that does not pass by itself. */
export function certificateProblem(code: string): boolean {
  return code.startsWith("ERR_TLS") || /CERT|UNABLE_TO_VERIFY|DEPTH_ZERO/.test(code);
}
