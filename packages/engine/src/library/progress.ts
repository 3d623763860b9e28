// What a download tells its caller while it runs, at a pace that a terminal can follow.

export interface LibraryProgress {
  /**
   * `waiting`: another process downloads the same model and these are its bytes. `verify`: bytes on the disk are read
   * again, those of an earlier start or the whole file for its checksum. `download`: bytes from the network. `unpack`:
   * bytes of the model file itself. `convert`: bytes of weights that are written in another format.
   */
  phase: "waiting" | "verify" | "download" | "unpack" | "convert";
  /** Bytes done in this phase, from 0 to `totalBytes`. */
  bytes: number;
  totalBytes: number;
}

export type OnProgress = (progress: LibraryProgress) => void;

/** Ten pictures a second look smooth; more only cost time. */
const intervalMs = 100;

/** Passes on the first and the last report of a phase and at most ten a second between them. */
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
