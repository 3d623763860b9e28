// Opens a reply, and waits for a model that is still being loaded: the page shows meanwhile how far it is.
import { ApiError } from "@ingle/client";

/** Where the server does not say how long it will take. */
const usualWaitMs = 1_000;

interface OpenOptions {
  signal: AbortSignal;
  /** Resolves after that time, and at once when the signal aborts. Default: the browser's clock. */
  wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** Asks again for as long as the model is loading. Rejects with any other error, and with the signal's reason. */
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

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const go = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", go);
      resolve();
    };
    const timer = setTimeout(go, milliseconds);
    signal.addEventListener("abort", go);
  });
}
