// Opens the stream of a reply, and waits while the model is still loading.
import { ApiError } from "@ingle/client";

import { pause } from "../connection/reconnect.ts";

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
