// Reads files, and reads them again whenever they change: keys and certificates are renewed while the server runs.
import { stat } from "node:fs/promises";

/**
 * How often files are polled. Watchers would miss changes on some systems: a link that is redirected, a mounted secret, a network
 * share.
 */
const lookEveryMsDefault = 2_000;

/** Receives changes until the signal aborts. */
export interface FileNews {
  /** Called when a changed file cannot be used; what was read before stays in use. */
  onFailure: (error: unknown) => void;
  /** Default: every two seconds. */
  lookEveryMs?: number | undefined;
  signal: AbortSignal;
}

export interface WatchedFiles<T> extends FileNews {
  files: readonly string[];
  read: () => Promise<T>;
  /** Receives the contents after a change. */
  onChange: (content: T) => void;
}

/** Returns the current contents. Throws what the first `read` throws. Watching does not keep the process alive. */
export async function watchFiles<T>(watched: WatchedFiles<T>): Promise<T> {
  const { files, read, onChange, onFailure, lookEveryMs = lookEveryMsDefault, signal } = watched;
  // Taken before reading: a file that changes while it is read differs at the next poll, and is read again.
  let seen = await readFingerprint(files);
  const content = await read();
  let isReading = false;
  const poll = async (): Promise<void> => {
    if (isReading) return;
    isReading = true;
    try {
      const now = await readFingerprint(files);
      if (now === seen) return;
      seen = now;
      const changed = await read();
      if (!signal.aborted) onChange(changed);
    } catch (error) {
      onFailure(error);
    } finally {
      isReading = false;
    }
  };
  if (signal.aborted) return content;
  const timer = setInterval(() => void poll(), lookEveryMs); // never rejects
  timer.unref();
  signal.addEventListener("abort", () => clearInterval(timer), { once: true });
  return content;
}

/** Changes when one of the files is written, replaced or removed. */
async function readFingerprint(files: readonly string[]): Promise<string> {
  const stats = files.map(async (file) => {
    try {
      const { mtimeMs, ctimeMs, size, ino } = await stat(file);
      return [mtimeMs, ctimeMs, size, ino].join();
    } catch {
      return "none"; // reading the file throws the reason
    }
  });
  return (await Promise.all(stats)).join(";");
}
