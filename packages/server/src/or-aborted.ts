// Waits for a promise, but only until a signal is aborted.
import { once } from "node:events";

/** Settles as the promise does, or rejects with the signal's reason if that comes first. */
export async function orAborted<T>(pending: Promise<T>, signal: AbortSignal): Promise<T> {
  const settled = new AbortController();
  try {
    return await Promise.race([pending, aborted(signal, settled.signal)]);
  } finally {
    settled.abort(); // removes the listener
  }
}

async function aborted(signal: AbortSignal, giveUp: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, "abort", { signal: giveUp });
  signal.throwIfAborted();
  throw new Error("unreachable: the signal has fired and is not aborted");
}
