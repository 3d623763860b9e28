// Looks up the keys of a request, and limits how often one client may send a wrong key.
//
// A client over the limit does not learn whether its next key is correct, so keys cannot be guessed faster than the limit.
// Keys that were correct from the same address before are still accepted, so a guesser cannot lock out others who share the
// address.
import { digestOfKey, type KeyScope } from "../api-key.ts";
import type { KeyRing } from "./key-ring.ts";

export interface FoundKey {
  readonly digest: string;
  readonly scope: KeyScope;
}

/** Too many wrong keys came from this client, so its keys were not checked. */
export interface HeldBack {
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
    const digests = keys.map(digestOfKey);
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
