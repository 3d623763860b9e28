// The API keys of a server, as digests and hashes, and what each one allows; and the check of the keys of a request, which limits how often
// one client may send a wrong one.
//
// A client over the limit does not learn whether its next key is correct, so keys cannot be guessed faster than the limit.
// Keys that were correct from the same address before are still accepted, so a guesser cannot lock out others who share the
// address.
import { timingSafeEqual } from "node:crypto";
import type { KeyTerms } from "@ingle/protocol";
import { hashKey, type KeyScope } from "../api-key.ts";
import { WireError } from "../wire-error.ts";
import { entryIdIn, matchesKey, toTerms, type KeyEntry } from "./key-file.ts";

/** The keys of a config: digests, and files. */
interface KeyConfig {
  keyDigests: readonly string[];
  adminKeyDigests: readonly string[];
  keyFile?: string | undefined;
  adminKeyFile?: string | undefined;
  keys?: string | undefined;
}

/** Whether a request without a key is refused. */
export function needsKey({ keyDigests, adminKeyDigests, keyFile, adminKeyFile, keys }: KeyConfig): boolean {
  const count = keyDigests.length + adminKeyDigests.length;
  return count > 0 || [keyFile, adminKeyFile, keys].some((file) => file !== undefined);
}

/** The source of the server's own token. */
const tokenSource = "token";
const noTerms: KeyTerms = {};

/** A key that a request came with. */
export interface KnownKey {
  /** SHA-256 of the key, in hexadecimal. */
  readonly digest: string;
  readonly scope: KeyScope;
  /** Its name, or the setting that it comes from; null: the server's own token. */
  readonly name: string | null;
  readonly terms: KeyTerms;
}

/** Keys of a list, which are only known by their digests. */
interface ListedKeys {
  scope: KeyScope;
  digests: readonly Buffer[];
}

export class KeyRing {
  #isNeeded: boolean;
  /** By source: the keys of a file are replaced together when it changes. */
  readonly #listed = new Map<string, ListedKeys>();
  readonly #entries = new Map<string, readonly KeyEntry[]>();
  /** What is known of the keys of all entries, by the hashes of these. */
  #known: ReadonlyMap<string, Omit<KnownKey, "digest">> = new Map();
  /** The hashes of entries whose keys have come, by the digests of the keys. */
  readonly #hashes = new Map<string, string>();

  /** Takes over the keys of the config, if there is one. */
  constructor(config?: KeyConfig) {
    this.#isNeeded = config !== undefined && needsKey(config);
    this.replace("--api-key", "inference", config?.keyDigests ?? []);
    this.replace("--admin-key", "management", config?.adminKeyDigests ?? []);
  }

  /** Whether every request needs a key. The server's own token always exists, but does not make keys required. */
  get isNeeded(): boolean {
    return this.#isNeeded;
  }

  /** The keys with names, oldest first. */
  get entries(): readonly KeyEntry[] {
    return [...this.#entries.values()].flat();
  }

  /** Requires a key from now on, even if all keys are removed. */
  needKey(): void {
    this.#isNeeded = true;
  }

  /** Replaces the keys of a source. */
  replace(source: string, scope: KeyScope, digests: readonly string[]): void {
    this.#listed.set(source, { scope, digests: digests.map((digest) => Buffer.from(digest, "hex")) });
  }

  /** Replaces the keys with names of a source. */
  replaceEntries(source: string, entries: readonly KeyEntry[]): void {
    this.#entries.set(source, entries);
    this.#known = new Map(
      this.entries.map((entry) => [
        entry.hash,
        { scope: entry.scope, name: entry.name, terms: toTerms(entry) },
      ]),
    );
    for (const [digest, hash] of this.#hashes) if (!this.#known.has(hash)) this.#hashes.delete(digest);
  }

  /** Adds the server's own token, which has the rights of a management key. */
  addToken(token: string): void {
    this.replace(tokenSource, "management", [hashKey(token)]);
  }

  /** Whether `check()` would have to compute a hash: the key may be that of an entry, and has not come before. */
  needsCheck(key: string, digest: string): boolean {
    return !this.#hashes.has(digest) && this.#entryOf(key) !== undefined;
  }

  /** Finds the key of a digest from now on, if it is that of an entry. */
  async check(key: string, digest: string): Promise<void> {
    const entry = this.#hashes.has(digest) ? undefined : this.#entryOf(key);
    if (entry !== undefined && (await matchesKey(entry, key))) this.#hashes.set(digest, entry.hash);
  }

  /** The key with this digest. Compares it with every listed key, so that the time reveals nothing. */
  find(digest: string): KnownKey | undefined {
    const candidate = Buffer.from(digest, "hex");
    const found: Partial<Record<KeyScope, string>> = {};
    for (const [source, { scope, digests }] of this.#listed) {
      for (const known of digests) if (timingSafeEqual(candidate, known)) found[scope] = source;
    }
    for (const scope of ["management", "inference"] as const) {
      const source = found[scope];
      if (source !== undefined)
        return { digest, scope, name: source === tokenSource ? null : source, terms: noTerms };
    }
    const hash = this.#hashes.get(digest);
    const known = hash === undefined ? undefined : this.#known.get(hash);
    return known && { digest, ...known };
  }

  #entryOf(key: string): KeyEntry | undefined {
    const id = entryIdIn(key);
    return id === undefined ? undefined : this.entries.find((each) => each.id === id);
  }
}

/** Why the keys of a request do not count. */
type KeyRefusal = { readonly waitSeconds: number } | { readonly expiredAt: string };

interface SentKey {
  readonly key: string;
  readonly digest: string;
}

export class KeyCheck {
  readonly #keys: KeyRing;
  readonly #wrongKeys: WrongKeys;
  readonly #now: () => number;
  /** The last search that computes hashes. They follow each other, so that no more wrong keys are looked at than are counted. */
  #lastHashing: Promise<unknown> = Promise.resolve();

  /** `now` is the time of day, in milliseconds. */
  constructor(keys: KeyRing, wrongKeys: WrongKeys, now: () => number = () => Date.now()) {
    this.#keys = keys;
    this.#wrongKeys = wrongKeys;
    this.#now = now;
  }

  /**
   * Finds the key with the highest right among those that the client sent; undefined if none is known. A refusal if too many wrong keys
   * came from this client, so that these were not checked, or if the key has expired.
   */
  async find(keys: readonly string[], client: string): Promise<KnownKey | KeyRefusal | undefined> {
    const sent = keys.map((key) => ({ key, digest: hashKey(key) }));
    if (sent.length === 0) return undefined;
    if (!sent.some(({ key, digest }) => this.#keys.needsCheck(key, digest)))
      return await this.#find(sent, client);
    const before = this.#lastHashing;
    const search = (async () => {
      await before;
      return await this.#find(sent, client);
    })();
    this.#lastHashing = search.catch(() => {}); // whoever asked gets the error
    return await search;
  }

  async #find(sent: readonly SentKey[], client: string): Promise<KnownKey | KeyRefusal | undefined> {
    const waits = sent.map(({ digest }) => this.#wrongKeys.waitSeconds(client, digest));
    const looked = sent.filter((_, index) => waits[index] === 0);
    if (looked.length === 0) return { waitSeconds: Math.max(...waits) };
    for (const { key, digest } of looked) await this.#keys.check(key, digest);
    const digests = looked.map(({ digest }) => digest);
    const best = this.known(digests);
    if (best !== undefined) this.#wrongKeys.noteRight(client, best.digest);
    const expired = best === undefined ? this.#expired(digests) : undefined;
    // Many clients send placeholder keys to servers without keys.
    if (best === undefined && expired === undefined && this.#keys.isNeeded) this.#wrongKeys.noteWrong(client);
    return best ?? expired;
  }

  /** Finds the key with the highest right among these digests. */
  known(digests: readonly string[]): KnownKey | undefined {
    const found = digests.flatMap((digest) => this.#keys.find(digest) ?? []);
    const valid = found.filter((key) => !this.#isExpired(key));
    return valid.find(({ scope }) => scope === "management") ?? valid[0];
  }

  #expired(digests: readonly string[]): KeyRefusal | undefined {
    const [expiredAt] = digests.flatMap((digest) => this.#keys.find(digest)?.terms.expires_at ?? []);
    return expiredAt === undefined ? undefined : { expiredAt };
  }

  #isExpired({ terms: { expires_at: end } }: KnownKey): boolean {
    return end !== undefined && Date.parse(end) <= this.#now();
  }
}

/** Wrong keys allowed per minute and address: people mistype a few, and a client with an old key retries a few times. */
export const wrongKeysPerMinute = 10;
const windowMs = 60_000;
/** How many addresses, and correct keys of addresses, are remembered; the oldest are forgotten first. */
const rememberedMax = 10_000;

interface Window {
  endsAt: number;
  wrongKeys: number;
}

export class WrongKeys {
  readonly #max: number;
  readonly #now: () => number;
  readonly #windows = new Map<string, Window>();
  readonly #rightKeys = new Set<string>();

  /** `now` are milliseconds on a clock that never goes back. */
  constructor(max = wrongKeysPerMinute, now: () => number = () => performance.now()) {
    this.#max = max;
    this.#now = now;
  }

  /** Seconds until keys of this client are checked again; 0 if they are now. */
  waitSeconds(client: string, keyDigest: string): number {
    const window = this.#windows.get(client);
    if (window === undefined || window.wrongKeys < this.#max) return 0;
    if (this.#rightKeys.has(`${client} ${keyDigest}`)) return 0;
    return Math.max(0, Math.ceil((window.endsAt - this.#now()) / 1000));
  }

  noteWrong(client: string): void {
    const now = this.#now();
    const window = this.#windows.get(client);
    if (window !== undefined && window.endsAt > now) window.wrongKeys += 1;
    else {
      this.#windows.delete(client); // reinserted, so that it becomes the newest
      this.#windows.set(client, { endsAt: now + windowMs, wrongKeys: 1 });
    }
    forgetOldest(this.#windows);
  }

  noteRight(client: string, keyDigest: string): void {
    this.#rightKeys.add(`${client} ${keyDigest}`);
    forgetOldest(this.#rightKeys);
  }
}

function forgetOldest(remembered: Map<string, unknown> | Set<string>): void {
  if (remembered.size <= rememberedMax) return;
  for (const oldest of remembered.keys()) {
    remembered.delete(oldest);
    return;
  }
}

/** The error for a client whose keys do not count. */
export function keyRefused(refusal: KeyRefusal): WireError {
  if ("expiredAt" in refusal) {
    const message = `This API key expired at ${refusal.expiredAt}. Ask the server's operator for a new one.`;
    return new WireError("unauthorized", message);
  }
  const { waitSeconds: retryAfterSeconds } = refusal;
  return new WireError(
    "rate_limited",
    `Too many wrong API keys came from this address. Try the right one again in ${retryAfterSeconds} seconds.`,
    { retryAfterSeconds },
  );
}
