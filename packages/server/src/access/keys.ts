// The API keys of a server, as digests, and what each one allows; and the check of the keys of a request, which limits how often one client
// may send a wrong one.
//
// A client over the limit does not learn whether its next key is correct, so keys cannot be guessed faster than the limit.
// Keys that were correct from the same address before are still accepted, so a guesser cannot lock out others who share the
// address.
import { timingSafeEqual } from "node:crypto";
import { hashKey, type KeyScope } from "../api-key.ts";
import { WireError } from "../wire-error.ts";

interface KeysOfSource {
  scope: KeyScope;
  digests: readonly Buffer[];
  /** Names of the keys by their digests in hexadecimal. */
  names: ReadonlyMap<string, string>;
}

/** The keys of a config: digests, and files with one key in each line. */
interface KeyConfig {
  keyDigests: readonly string[];
  adminKeyDigests: readonly string[];
  keyFile?: string | undefined;
  adminKeyFile?: string | undefined;
}

/** Whether a request without a key is refused. */
export function needsKey({ keyDigests, adminKeyDigests, keyFile, adminKeyFile }: KeyConfig): boolean {
  const count = keyDigests.length + adminKeyDigests.length;
  return count > 0 || keyFile !== undefined || adminKeyFile !== undefined;
}

/** The source of the server's own token. */
const tokenSource = "token";

export class KeyRing {
  #isNeeded: boolean;
  /** By source: the keys of a file are replaced together when it changes. */
  readonly #digests = new Map<string, KeysOfSource>();

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

  /** Requires a key from now on, even if all keys are removed. */
  needKey(): void {
    this.#isNeeded = true;
  }

  /** Replaces the keys of a source. `names`: by digest, for keys that have one. */
  replace(
    source: string,
    scope: KeyScope,
    digests: readonly string[],
    names: ReadonlyMap<string, string> = new Map(),
  ): void {
    this.#digests.set(source, { scope, digests: digests.map((digest) => Buffer.from(digest, "hex")), names });
  }

  /** Adds the server's own token, which has the rights of a management key. */
  addToken(token: string): void {
    this.replace(tokenSource, "management", [hashKey(token)]);
  }

  /** The name of a key, or the setting that it comes from; null for the token and for unknown keys. */
  nameOf(digest: string): string | null {
    const wanted = Buffer.from(digest, "hex");
    for (const [source, { digests, names }] of this.#digests) {
      if (source !== tokenSource && digests.some((known) => known.equals(wanted)))
        return names.get(digest) ?? source;
    }
    return null;
  }

  /** The right of the key with this digest. Compares it with every key, so that the time reveals nothing. */
  scopeOf(digest: string): KeyScope | undefined {
    const candidate = Buffer.from(digest, "hex");
    const found = { inference: false, management: false };
    for (const { scope, digests } of this.#digests.values()) {
      for (const known of digests) found[scope] = timingSafeEqual(candidate, known) || found[scope];
    }
    if (found.management) return "management";
    return found.inference ? "inference" : undefined;
  }
}

export interface FoundKey {
  readonly digest: string;
  readonly scope: KeyScope;
}

/** Too many wrong keys came from this client, so its keys were not checked. */
interface HeldBack {
  readonly waitSeconds: number;
}

export class KeyCheck {
  readonly #keys: KeyRing;
  readonly #wrongKeys: WrongKeys;

  constructor(keys: KeyRing, wrongKeys: WrongKeys) {
    this.#keys = keys;
    this.#wrongKeys = wrongKeys;
  }

  /** Finds the key with the highest right among those that the client sent; undefined if none is known. */
  find(keys: readonly string[], client: string): FoundKey | HeldBack | undefined {
    const digests = keys.map(hashKey);
    if (digests.length === 0) return undefined;
    const waits = digests.map((digest) => this.#wrongKeys.waitSeconds(client, digest));
    const looked = digests.filter((_, index) => waits[index] === 0);
    if (looked.length === 0) return { waitSeconds: Math.max(...waits) };
    const best = this.known(looked);
    if (best !== undefined) this.#wrongKeys.noteRight(client, best.digest);
    else if (this.#keys.isNeeded) this.#wrongKeys.noteWrong(client); // many clients send placeholder keys to servers without keys
    return best;
  }

  /** Finds the key with the highest right among these digests. */
  known(digests: readonly string[]): FoundKey | undefined {
    const found = digests.flatMap((digest): FoundKey[] => {
      const scope = this.#keys.scopeOf(digest);
      return scope === undefined ? [] : [{ digest, scope }];
    });
    return found.find(({ scope }) => scope === "management") ?? found[0];
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

/** The error for a client that must wait before its keys are checked again. */
export function tooManyWrongKeys({ waitSeconds: retryAfterSeconds }: HeldBack): WireError {
  return new WireError(
    "rate_limited",
    `Too many wrong API keys came from this address. Try the right one again in ${retryAfterSeconds} seconds.`,
    { retryAfterSeconds },
  );
}
