// Looks keys up that came with a request, no faster than wrong ones may be tried. Used by plugins/auth.ts and by the routes that
// begin a session.
import { digestOfKey, type KeyScope } from "../api-key.ts";
import type { KeyRing } from "./key-ring.ts";
import type { WrongKeys } from "./wrong-keys.ts";

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
