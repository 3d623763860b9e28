// API keys: which ones are accepted, and their digests. The server holds only digests, so that neither a log of the config nor a heap
// dump shows a key.
import { createHash } from "node:crypto";

/** The scope of a key: using models, or also loading, downloading and removing them. */
export type KeyScope = "inference" | "management";

/** Minimum length of a key without --insecure-short-key: this many random characters cannot be guessed. */
const keyLengthMin = 16;
/** Maximum length of a key: it has to fit into a header, and it is hashed for each request. */
const keyLengthMax = 1024;
/** Maximum number of API keys: each request's key is compared with all of them. */
export const apiKeysMax = 1_000;

/** SHA-256 in hexadecimal. Keys are long and random, so they need no salt and no slow hash. */
export function hashKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

/** Why a key is refused, as the end of a sentence that begins with its setting; undefined for a valid key. */
export function whyNotTaken(key: string, { allowsShort }: { allowsShort: boolean }): string | undefined {
  if (key === "") return "must not be empty";
  if (key.length > keyLengthMax) return `must be at most ${keyLengthMax} characters`;
  if (allowsShort || key.length >= keyLengthMin) return undefined;
  return (
    `must be at least ${keyLengthMin} characters, because shorter ones can be guessed. Make one with ` +
    '"openssl rand -hex 32", or accept the risk with --insecure-short-key'
  );
}
