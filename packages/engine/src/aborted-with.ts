// Work of the addon that can be aborted: when a signal is, and when the process ends. Used by load() and by Model.

/** What aborts the work that is going on. */
const abortions = new Set<() => void>();

function abortAll(): void {
  for (const abort of abortions) abort();
}

/** Awaits work, which `abort` ends once the signal is aborted; then it rejects with the signal's reason. */
export async function abortedWith<T>(
  signal: AbortSignal | undefined,
  abort: () => void,
  pending: Promise<T>,
): Promise<T> {
  // process.exit() waits for the addon's threads, and runs no hook of the addon.
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
