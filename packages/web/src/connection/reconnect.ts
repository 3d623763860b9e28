// Retries: reopens a stream of events after it broke, and waits while a model is loading.
import { ApiError } from "@ingle/client";

/** Short at first, for a server that only restarts. */
const waitsMs = [250, 500, 1_000, 2_000, 4_000];

interface Reconnection<Event> {
  /** Opens the stream; any error means that the server is unreachable. */
  open: (signal: AbortSignal) => Promise<AsyncIterable<Event>>;
  onEvent: (event: Event) => void;
  /** Called each time the stream broke or could not be opened. */
  onLost: (error: unknown) => void;
  signal: AbortSignal;
  /** Waits before the next try; may resolve early. */
  wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** Runs until the signal aborts. Every event resets the waits. */
export async function keepOpen<Event>({
  open,
  onEvent,
  onLost,
  signal,
  wait,
}: Reconnection<Event>): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      for await (const event of await open(signal)) {
        failures = 0;
        onEvent(event);
      }
      if (!signal.aborted) onLost(new Error("the stream of events ended"));
    } catch (error) {
      if (signal.aborted) return;
      onLost(error);
    }
    await wait(waitsMs[Math.min(failures, waitsMs.length - 1)] ?? 0, signal);
    failures += 1;
  }
}

/** Resolves after the time, or as soon as the signal aborts. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener("abort", end);
  });
}

/** If the server sends no Retry-After. */
const usualWaitMs = 1_000;

interface OpenOptions {
  signal: AbortSignal;
  /** Resolves after the time, or as soon as the signal aborts. Default: a real timer. */
  wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** Retries while the model is loading. Rejects with any other error, or with the signal's reason. */
export async function openReply<Reply>(
  open: () => Promise<Reply>,
  { signal, wait = pause }: OpenOptions,
): Promise<Reply> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await open();
    } catch (error) {
      if (!ApiError.is(error) || error.code !== "model_loading") throw error;
      await wait(error.retryAfterMs ?? usualWaitMs, signal);
    }
  }
}
