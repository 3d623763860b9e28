// Reads files now and again whenever they change: keys and certificates are renewed while the server runs. Used by serve.ts.
import { stat } from "node:fs/promises";

/**
 * How often files are looked at. They are asked and not watched: what replaces them (a link that is turned, a mounted
 * secret, a network share) tells no watcher everywhere.
 */
const lookEveryMsDefault = 2_000;

/** What comes of changes, until the signal aborts. */
export interface FileNews {
  /** A changed file cannot be used: what was read before stays in use. */
  onFailure: (error: unknown) => void;
  /** Default: every two seconds. */
  lookEveryMs?: number | undefined;
  signal: AbortSignal;
}

export interface WatchedFiles<T> extends FileNews {
  files: readonly string[];
  read: () => Promise<T>;
  /** Takes what was read after a change. */
  onChange: (content: T) => void;
}

/** What the files hold now. Throws what the first `read` throws. Watching keeps no process alive. */
export async function watchFiles<T>(watched: WatchedFiles<T>): Promise<T> {
  const { files, read, onChange, onFailure, lookEveryMs = lookEveryMsDefault, signal } = watched;
  // What is changed while it is being read has another look by then, and is read again.
  let seen = await looksOf(files);
  const content = await read();
  let isReading = false;
  const lookAgain = async (): Promise<void> => {
    if (isReading) return;
    isReading = true;
    try {
      const look = await looksOf(files);
      if (look === seen) return;
      seen = look;
      const changed = await read();
      if (!signal.aborted) onChange(changed);
    } catch (error) {
      onFailure(error);
    } finally {
      isReading = false;
    }
  };
  if (signal.aborted) return content;
  const timer = setInterval(() => void lookAgain(), lookEveryMs); // never rejects
  timer.unref();
  signal.addEventListener("abort", () => clearInterval(timer), { once: true });
  return content;
}

/** Differs when one of the files was written, replaced or removed. */
async function looksOf(files: readonly string[]): Promise<string> {
  const looks = files.map(async (file) => {
    try {
      const { mtimeMs, ctimeMs, size, ino } = await stat(file);
      return [mtimeMs, ctimeMs, size, ino].join();
    } catch {
      return "none"; // reading it tells why
    }
  });
  return (await Promise.all(looks)).join(";");
}
