// API keys: which ones are taken, and how the server holds them, as digests only, so that neither a log of the config nor
// a heap dump tells a key. Used by config.ts and by access/, which reads and compares them.
import { createHash } from "node:crypto";

/** What a key lets its holder do: use models, or also load, fetch and remove them. */
export type KeyScope = "inference" | "management";

/** Shortest key that is taken without --insecure-short-key: random characters of that number cannot be guessed. */
const keyLengthMin = 16;
/** Longest key: a header holds it, and every key is hashed for each request. */
const keyLengthMax = 1024;
/** Most API keys: each one is compared with each request's. */
export const apiKeysMax = 1_000;

/** SHA-256 in hexadecimal. Keys are random and long: no salt and no slow hash are needed to keep them secret. */
export function digestOfKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

/** Why a key is not taken, as the end of a sentence that names it; undefined where nothing is wrong. */
export function whyNotTaken(key: string, { allowsShort }: { allowsShort: boolean }): string | undefined {
  if (key === "") return "must not be empty";
  if (key.length > keyLengthMax) return `must be at most ${keyLengthMax} characters`;
  if (allowsShort || key.length >= keyLengthMin) return undefined;
  return (
    `must be at least ${keyLengthMin} characters, because shorter ones can be guessed. Make one with ` +
    '"openssl rand -hex 32", or take the risk with --insecure-short-key'
  );
}
