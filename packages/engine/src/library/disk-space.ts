// Reports a full disk before a long download starts, and in the same words if it fills up during the download.
import { statfs } from "node:fs/promises";
import { errorCode, EngineError } from "../base/errors.ts";

export type FreeBytes = (folder: string) => Promise<number>;

/** The last few MiB of a disk are never usable in practice. */
export const spareBytes = 16 * 1024 * 1024;

/** Bytes that this user may still write on the folder's disk. */
export const freeBytesOn: FreeBytes = async (folder) => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

/** The folder that is written to: the library's, which INGLE_HOME sets, or one that the user chose for a file. */
type WrittenFolder = "library" | "output";

const advice: Record<WrittenFolder, { full: string; unusable: string }> = {
  library: {
    full: "Free some space, or set INGLE_HOME to a folder on a larger disk.",
    unusable: "Set INGLE_HOME to a folder of your own.",
  },
  output: {
    full: "Free some space, or choose a folder on a larger disk for the new file.",
    unusable: "Choose a folder of your own for the new file.",
  },
};

/** Throws `disk_full` with the numbers if `neededBytes` more do not fit in `folder`. */
export async function checkDiskSpace(
  folder: string,
  neededBytes: number,
  freeBytes: FreeBytes = freeBytesOn,
  whose: WrittenFolder = "library",
): Promise<void> {
  const free = await freeBytes(folder);
  if (free >= neededBytes) return;
  const message = `The model needs ${inMegabytes(neededBytes)} more in ${folder}, where ${inMegabytes(free)} are free. ${advice[whose].full}`;
  throw new EngineError("disk_full", message, { details: { folder, neededBytes, freeBytes: free } });
}

/** Whether a write failed because the disk is full, or the user's share of it. */
export function isDiskFull(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOSPC" || code === "EDQUOT";
}

/** The error for a write, rename or mkdir that failed in the folder. */
export function diskFailure(error: unknown, folder: string, whose: WrittenFolder = "library"): unknown {
  const code = errorCode(error);
  if (isDiskFull(error)) {
    const message = `The disk under ${folder} is full. ${advice[whose].full}`;
    return new EngineError("disk_full", message, { cause: error, details: { folder } });
  }
  if (code !== undefined && unusableCodes.has(code)) {
    const message = `Ingle cannot write in ${folder} (${code}). ${advice[whose].unusable}`;
    return new EngineError("download_failed", message, { cause: error, details: { folder } });
  }
  return error;
}

/** No permission, a read-only disk, or a file in place of a folder. */
const unusableCodes = new Set(["EACCES", "EPERM", "EROFS", "ENOTDIR", "EEXIST"]);

function inMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1_000_000).toLocaleString("en-US")} MB`;
}
