// A lock file: only one process at a time downloads a model or changes the manifest; others wait.
import lockfile from "proper-lockfile";
import { errorCode, EngineError } from "../base/errors.ts";
import { pause, type Wait } from "./retry.ts";

interface LockOptions {
  /** Called about once a second while another process holds the lock. */
  onWait?: () => Promise<void> | void;
  wait?: Wait | undefined;
  signal?: AbortSignal | undefined;
}

/** Held with `await using`. */
interface LibraryLock extends AsyncDisposable {
  /**
   * Aborted with `library_locked` if another process took the lock, for example after a long sleep of this machine, and with the
   * signal of the options.
   */
  signal: AbortSignal;
  /** Whether another process took the lock. */
  isLost: () => boolean;
}

/** A lock that was not updated for this long belongs to a dead process. */
const staleMs = 6000;
const touchMs = 2000;
const pollMs = 1000;

/** Waits while another living process holds the lock, or until the signal is aborted. */
export async function lockFile(path: string, options: LockOptions = {}): Promise<LibraryLock> {
  const { onWait, wait = pause, signal } = options;
  for (;;) {
    signal?.throwIfAborted();
    const lock = await tryLock(path, signal);
    if (lock !== undefined) return lock;
    await onWait?.();
    await wait(pollMs, { signal });
  }
}

async function tryLock(path: string, signal: AbortSignal | undefined): Promise<LibraryLock | undefined> {
  const lost = new AbortController();
  try {
    const release = await lockfile.lock(path, {
      lockfilePath: path,
      // The path is the lock itself, which does not exist yet.
      realpath: false,
      stale: staleMs,
      update: touchMs,
      onCompromised: (cause) => lost.abort(lockLost(path, cause)),
    });
    const dispose = async (): Promise<void> => {
      if (!lost.signal.aborted) await release();
    };
    return {
      signal: signal === undefined ? lost.signal : AbortSignal.any([lost.signal, signal]),
      isLost: () => lost.signal.aborted,
      [Symbol.asyncDispose]: dispose,
    };
  } catch (error) {
    if (errorCode(error) === "ELOCKED") return undefined;
    throw error;
  }
}

function lockLost(path: string, cause: Error): EngineError {
  const message =
    "Another process took over the download while this one was suspended. Start again when it has finished.";
  return new EngineError("library_locked", message, { cause, details: { path } });
}

/** Whether a living process holds the lock. */
export async function isLocked(path: string): Promise<boolean> {
  return await lockfile.check(path, { lockfilePath: path, realpath: false, stale: staleMs });
}
