// Aborts work of the addon when a signal is aborted, and when the process exits.

/** The abort functions of all pending work. */
const abortions = new Set<() => void>();

function abortAll(): void {
  for (const abort of abortions) abort();
}

/** Awaits work. If the signal is aborted, calls `abort`, which must end the work, and rejects with the signal's reason. */
export async function abortedWith<T>(
  signal: AbortSignal | undefined,
  abort: () => void,
  pending: Promise<T>,
): Promise<T> {
  // process.exit() waits for the addon's threads without running the addon's cleanup hooks.
  if (abortions.size === 0) process.once("exit", abortAll);
  abortions.add(abort);
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted) abort();
  try {
    return await pending;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
    abortions.delete(abort);
    if (abortions.size === 0) process.off("exit", abortAll);
  }
}
