// The native engine's form of `cacheSalt`. Any text may be one; its digest names a folder, too, and is what state files have of it.
import { createHash } from "node:crypto";

/** Half of the digits: salts that begin with the same ones belong to one owner (`owner_of()` in sched/request.h). */
const ownerDigits = 32;

/**
 * Hexadecimal digits; empty without a salt. Before a slash, the salt names its owner: where memory is short, each owner keeps its share of it,
 * however many salts there are.
 */
export function toNativeSalt(salt: string | undefined): string {
  if (salt === undefined) return "";
  const digest = sha256(salt);
  const slash = salt.indexOf("/");
  return slash === -1
    ? digest
    : sha256(salt.slice(0, slash)).slice(0, ownerDigits) + digest.slice(0, ownerDigits);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
