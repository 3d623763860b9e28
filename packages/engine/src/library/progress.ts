// Progress reports of downloads and conversions, throttled for terminals.

export interface LibraryProgress {
  /**
   * `waiting`: another process downloads the same model; its bytes. `verify`: bytes that are read again, of an earlier attempt
   * or of the whole file for its checksum. `download`: bytes from the network. `unpack`: bytes of the model file. `convert`:
   * bytes of weights that are written in another format.
   */
  phase: "waiting" | "verify" | "download" | "unpack" | "convert";
  /** Bytes of this phase, from 0 to `totalBytes`. */
  bytes: number;
  totalBytes: number;
}

export type OnProgress = (progress: LibraryProgress) => void;

/** Ten updates a second look smooth; more only cost time. */
const intervalMs = 100;

/** Forwards the first and the last report of a phase, and at most ten per second in between. */
export function throttleProgress(
  onProgress: OnProgress | undefined,
  now: () => number = Date.now,
): OnProgress {
  if (onProgress === undefined) return () => {};
  let last: LibraryProgress | undefined;
  let lastAt = 0;
  return (progress) => {
    const isDue = progress.phase !== last?.phase || now() - lastAt >= intervalMs;
    const isEnd = progress.bytes === progress.totalBytes && last?.bytes !== progress.bytes;
    if (!isDue && !isEnd) return;
    last = progress;
    lastAt = now();
    onProgress(progress);
  };
}
