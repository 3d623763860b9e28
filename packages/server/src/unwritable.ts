// Says why a folder, or a file in it, cannot be written.
import { accessSync, constants, existsSync, statSync } from "node:fs";
import path from "node:path";

/**
 * Why a write, or a mkdir, failed in a folder that may not exist, as the end of a sentence. The folder tells more than the error: on a disk that is
 * read-only, Node's recursive mkdir fails with ENOENT.
 */
export function whyUnwritable(folder: string, error: unknown): string {
  const existing = nearestExisting(path.resolve(folder));
  if (!statSync(existing).isDirectory()) return `${existing} is a file`;
  try {
    accessSync(existing, constants.W_OK);
  } catch (refusal) {
    return toReason(refusal);
  }
  return toReason(error);
}

function toReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return ("code" in error ? reasons[String(error.code)] : undefined) ?? error.message;
}

const reasons: Readonly<Record<string, string>> = {
  EROFS: "its disk is read-only",
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  ENOSPC: "its disk is full",
  EDQUOT: "this user's share of the disk is full",
};

function nearestExisting(folder: string): string {
  return existsSync(folder) ? folder : nearestExisting(path.dirname(folder));
}
