// Looks keys up that came with a request, no faster than wrong ones may be tried. Used by plugins/auth.ts and by the routes that
// begin a session.
import { digestOfKey, type KeyScope } from "../api-key.ts";
import type { KeyRing } from "./key-ring.ts";

export interface FoundKey {
  readonly digest: string;
  readonly scope: KeyScope;
}

/** Too many wrong ones came from there: none was looked at. */
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

  /** The best of a client's keys that is known; undefined where none is. */
  find(keys: readonly string[], client: string): FoundKey | HeldBack | undefined {
    const digests = keys.map(digestOfKey);
    if (digests.length === 0) return undefined;
    const waits = digests.map((digest) => this.#wrongKeys.waitSeconds(client, digest));
    const looked = digests.filter((_, index) => waits[index] === 0);
    if (looked.length === 0) return { waitSeconds: Math.max(...waits) };
    const best = this.known(looked);
    if (best !== undefined) this.#wrongKeys.noteRight(client, best.digest);
    else if (this.#keys.isNeeded) this.#wrongKeys.noteWrong(client); // where none is needed, clients send any text
    return best;
  }

  /** The best of these keys that is known. */
  known(digests: readonly string[]): FoundKey | undefined {
    const found = digests.flatMap((digest): FoundKey[] => {
      const scope = this.#keys.scopeOf(digest);
      return scope === undefined ? [] : [{ digest, scope }];
    });
    return found.find(({ scope }) => scope === "management") ?? found[0];
  }
}

/** Wrong keys a minute of one address: people mistype a few, a client with an old key tries again a few times. */
export const wrongKeysPerMinute = 10;
const windowMs = 60_000;
/** Addresses, and right keys of addresses, that are remembered; beyond it the oldest is forgotten. */
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

  /** Seconds until a key of this client is looked at again; 0 when it is now. */
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
      this.#windows.delete(client); // so that it becomes the newest
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
