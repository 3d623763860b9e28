// When a failed request is tried again, and after how long. Used by transport.ts.
import { ApiError, ConnectionError } from "./errors.ts";

/** Time and chance, handed in so that tests own them. */
export interface Clock {
  /** Unix time in milliseconds. */
  now(): number;
  /** A number from 0 to below 1. */
  random(): number;
  /** Resolves after `ms` milliseconds, or rejects with the signal's reason. */
  delay(ms: number, options: { signal?: AbortSignal | undefined }): Promise<void>;
}

/** The clock on the wall. */
export const systemClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  delay: (ms, { signal }) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const stop = (): void => {
        clearTimeout(timer);
        // The reason is the caller's own value and goes back as it is.
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

/** The wait before the first retry; it doubles from try to try. */
const firstDelayMs = 500;

/** The longest wait that doubling may reach. */
const longestDelayMs = 8_000;

/** A server that asks for more patience than this is not waited for: the caller decides, by `error.retryAfterMs`. */
export const longestRetryAfterMs = 60_000;

/** Whether the same request may succeed later: a broken connection, 408, 409, 429 and 5xx. */
export function isWorthRetrying(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  if (!(error instanceof ApiError)) return false;
  if ((error.retryAfterMs ?? 0) > longestRetryAfterMs) return false;
  return [408, 409, 429].includes(error.status) || error.status >= 500;
}

/** The wait before retry number `retry` (from 0): what the server asked for, else doubling with half of it by chance. */
export function retryDelayMs(retry: number, error: unknown, clock: Pick<Clock, "random">): number {
  if (error instanceof ApiError && error.retryAfterMs !== undefined) return error.retryAfterMs;
  const delay = Math.min(firstDelayMs * 2 ** retry, longestDelayMs);
  return delay * (0.5 + clock.random() / 2);
}

/** Reads a `Retry-After` header, seconds or an HTTP date, as milliseconds from `nowMs`; `undefined` when it says nothing. */
export function parseRetryAfter(header: string | null, nowMs: number): number | undefined {
  const value = header?.trim();
  if (value === undefined || value === "") return undefined;
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value) * 1_000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
