// Keys with a name and terms of their own, as the app's key file and `--keys` have them: what each one may do, and until when. A file
// holds a hash of each key, so that it reveals none. A key contains its entry's id: a request needs one slow hash, once, and not one for
// each entry.
import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from "node:crypto";
import { keyNameLengthMax, KeyScopeName, KeyTerms } from "@ingle/protocol";
import { z } from "zod";
import { apiKeysMax } from "../api-key.ts";
import { toUnixSeconds } from "../seconds.ts";

/** Random bytes of a key's secret: too many to guess. */
const secretBytes = 32;
const idBytes = 6;
/** Makes leaked keys easy to find, for example by secret scanners. */
const keyPattern = /^sk-ingle-([0-9a-f]{12})-[\w-]{43}$/;
/** Number of trailing characters that are shown, so that people can tell keys apart. */
const endingLength = 4;

const saltBytes = 16;
const hashBytes = 32;
/** 16 MiB and about 40 ms: the secret cannot be guessed anyway, and each key is hashed once after a start. */
const hashCost = 14;
/** `scrypt` with its parameters, salt and hash, in the PHC string format. */
const hashPattern = /^\$scrypt\$ln=(1[0-7]),r=8,p=1\$([\w+/]{22})\$([\w+/]{43})$/;

const KeyEntry = z
  .strictObject({
    id: z.string().regex(/^[0-9a-f]{12}$/),
    name: z.string().min(1).max(keyNameLengthMax),
    scope: KeyScopeName,
    hash: z.string().regex(hashPattern, "must be a hash that `ingle keys add` has made"),
    ending: z.string().max(endingLength),
    created_at: z.int(),
    ...KeyTerms.shape,
  })
  .refine(({ scope, models }) => scope === "inference" || models === undefined, {
    path: ["models"],
    error: "is for inference keys: a management key may load and remove every model",
  });
export type KeyEntry = z.infer<typeof KeyEntry>;

/** The content of a key file. */
export const KeyFile = z.strictObject({
  version: z.literal(1),
  keys: z
    .array(KeyEntry)
    .max(apiKeysMax)
    .refine((keys) => areDistinct(keys.map(({ id }) => id)), "two keys have the same id")
    .refine((keys) => areDistinct(keys.map(({ name }) => name)), "two keys have the same name"),
});
export type KeyFile = z.infer<typeof KeyFile>;

export const emptyKeyFile: KeyFile = { version: 1, keys: [] };

/** What a new key is to be. */
export type KeyWish = Pick<KeyEntry, "name" | "scope"> & KeyTerms;

/** A new key, which only the result contains, and its entry. */
export async function makeKey(
  { name, scope, ...terms }: KeyWish,
  now: Date = new Date(),
): Promise<{ key: string; entry: KeyEntry }> {
  const id = randomBytes(idBytes).toString("hex");
  const key = `sk-ingle-${id}-${randomBytes(secretBytes).toString("base64url")}`;
  const hash = await hashed(key, hashCost, randomBytes(saltBytes));
  const about = { id, name, scope, hash, ending: key.slice(-endingLength) };
  return { key, entry: { ...about, created_at: toUnixSeconds(now), ...terms } };
}

/** The id of the entry that a key belongs to; undefined for a text that is no key of a file. */
export function entryIdIn(key: string): string | undefined {
  return keyPattern.exec(key)?.[1];
}

/** Whether an entry is that of a key. Takes tens of milliseconds, on another thread. */
export async function matchesKey({ hash }: KeyEntry, key: string): Promise<boolean> {
  const [, cost = "", salt = ""] = hashPattern.exec(hash) ?? [];
  const candidate = await hashed(key, Number(cost), Buffer.from(salt, "base64"));
  return timingSafeEqual(Buffer.from(candidate), Buffer.from(hash));
}

/** What an entry allows. */
export function toTerms(entry: KeyEntry): KeyTerms {
  return KeyTerms.parse(entry); // leaves the other fields out
}

async function hashed(key: string, cost: number, salt: Buffer): Promise<string> {
  const blockSize = 8;
  const N = 2 ** cost;
  const options: ScryptOptions = { N, r: blockSize, p: 1, maxmem: 2 * 128 * N * blockSize };
  const hash = await new Promise<Buffer>((resolve, reject) => {
    scrypt(key, salt, hashBytes, options, (error, result) => {
      if (error === null) resolve(result);
      else reject(error);
    });
  });
  return `$scrypt$ln=${cost},r=${blockSize},p=1$${unpadded(salt)}$${unpadded(hash)}`;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("=", "");
}

function areDistinct(values: readonly string[]): boolean {
  return new Set(values).size === values.length;
}
