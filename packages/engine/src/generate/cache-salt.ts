// The native engine's form of `cacheSalt`. Any text may be one; its digest names a folder, too, and is what state files have of it.
import { createHash } from "node:crypto";

/** Hexadecimal digits; empty without a salt. */
export function toNativeSalt(salt: string | undefined): string {
  return salt === undefined ? "" : createHash("sha256").update(salt).digest("hex");
}
