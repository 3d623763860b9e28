// API keys as the server holds them: only digests, so that neither a log of the config nor a heap dump tells a key.
// Used by config.ts, which makes them, and plugins/auth.ts, which compares them.
import { createHash } from "node:crypto";

/** SHA-256 in hexadecimal. Keys are random and long: no salt and no slow hash are needed to keep them secret. */
export function digestOfKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}
