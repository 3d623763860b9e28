// Decides which failed requests are retried, and after how long.
import { ApiError, ConnectionError } from "./errors.ts";

/** Time and random numbers, which tests replace. */
export interface Clock {
  /** Unix time in milliseconds. */
  now(): number;
  /** A number from 0 to below 1. */
  random(): number;
  /** Resolves after `ms` milliseconds, or rejects with the signal's reason. */
  delay(ms: number, options: { signal?: AbortSignal | undefined }): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  delay: (ms, { signal }) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const stop = (): void => {
        clearTimeout(timer);
        // The reason is the caller's own value and is passed through unchanged.
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", stop);
        resolve();
      }, ms);
      signal?.addEventListener("abort", stop, { once: true });
    }),
};

/** The delay before the first retry; it doubles with each retry. */
const firstDelayMs = 500;

const longestDelayMs = 8_000;

/** If the server asks for a longer delay, the request is not retried; the caller may, by `error.retryAfterMs`. */
const longestRetryAfterMs = 60_000;

/** Whether the same request may succeed later: after a broken connection, 408, 409, 429 and 5xx except 501. */
export function isWorthRetrying(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  if (!(error instanceof ApiError)) return false;
  if ((error.retryAfterMs ?? 0) > longestRetryAfterMs) return false;
  // After 501, the server must be started differently.
  return [408, 409, 429].includes(error.status) || (error.status >= 500 && error.status !== 501);
}

/** The delay before retry number `retry` (from 0): the server's if it gave one, otherwise doubling, with up to half of it random. */
export function retryDelayMs(retry: number, error: unknown, clock: Pick<Clock, "random">): number {
  if (error instanceof ApiError && error.retryAfterMs !== undefined) return error.retryAfterMs;
  const delay = Math.min(firstDelayMs * 2 ** retry, longestDelayMs);
  return delay * (0.5 + clock.random() / 2);
}

/** Reads a `Retry-After` header, seconds or an HTTP date, as milliseconds from `nowMs`; `undefined` if missing or invalid. */
export function parseRetryAfter(header: string | null, nowMs: number): number | undefined {
  const value = header?.trim();
  if (value === undefined || value === "") return undefined;
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value) * 1_000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
