// How often one client may send a key that is not known. Used by plugins/auth.ts.
//
// A client over the limit is not told whether its next key is right: nothing can be guessed faster than the limit. Keys
// that were right from the same address before still are, so that nobody who shares it is locked out by a guesser.

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
