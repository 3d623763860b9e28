// The API keys that the app creates for its `/v1` server, kept in a key file. Changes apply to the running server at once, through its key
// ring.
import { keysMax, type NewServerKey, type ServerKey } from "@ingle/protocol";
import { emptyKeyFile, KeyFile, makeKey, toTerms, type KeyEntry, type KeyWish } from "../access/key-file.ts";
import type { KeyRing } from "../access/keys.ts";
import type { KeyMeters } from "../access/key-usage.ts";
import { WireError } from "../wire-error.ts";
import { StateFile } from "../state-file.ts";

export class KeptKeys {
  readonly #file: StateFile<KeyFile>;
  /** The key ring of the running server. */
  #ring: KeyRing | undefined;

  private constructor(file: StateFile<KeyFile>) {
    this.#file = file;
  }

  static async open(file: string): Promise<KeptKeys> {
    return new KeptKeys(await StateFile.open(file, KeyFile, emptyKeyFile));
  }

  /** A sentence that says why the key file cannot be used. The keys in it are unknown then. */
  get problem(): string | undefined {
    return this.#file.problem;
  }

  get size(): number {
    return this.#file.current.keys.length;
  }

  /** Newest first. */
  list(meters: KeyMeters): ServerKey[] {
    return this.#file.current.keys.map((entry) => shownKey(entry, meters)).toReversed();
  }

  /** Creates a key, which only the returned object contains. Throws `invalid_request` if there are too many, or one has its name. */
  async create(wish: KeyWish, now: Date = new Date()): Promise<NewServerKey> {
    const { key, entry } = await makeKey(wish, now);
    await this.#change((keys) => {
      if (keys.some(({ name }) => name === wish.name))
        throw new WireError("invalid_request", `There is a key of the name ${wish.name} already.`, {
          param: "name",
        });
      if (keys.length < keysMax) return [...keys, entry];
      throw new WireError("invalid_request", `There are already ${keysMax} keys; revoke one first.`);
    });
    return { ...shownKey(entry), key };
  }

  /** Revokes a key at once. Throws `invalid_request` for an unknown id. */
  async revoke(id: string): Promise<void> {
    await this.#change((keys) => {
      if (keys.some((key) => key.id === id)) return keys.filter((key) => key.id !== id);
      throw new WireError("invalid_request", "Unknown key id.", { param: "id" });
    });
  }

  /** Keeps this ring up to date with the keys, until another ring replaces it. */
  keepIn(ring: KeyRing): void {
    this.#ring = ring;
    ring.replaceEntries("the app", this.#file.current.keys);
    // A server that had a key continues to require one: revoking the last key must not open it to everybody.
    if (this.size > 0) ring.needKey();
  }

  async #change(change: (keys: readonly KeyEntry[]) => KeyEntry[]): Promise<void> {
    await this.#file.change(({ keys }) => ({ version: 1, keys: change(keys) }));
    if (this.#ring !== undefined) this.keepIn(this.#ring);
  }
}

/** Without its hash. */
export function shownKey(entry: KeyEntry, meters?: KeyMeters): ServerKey {
  const { id, name, scope, ending, created_at } = entry;
  const usage = meters?.all.get(name)?.usage ?? { requests: 0, prompt_tokens: 0, completion_tokens: 0 };
  return { id, name, scope, ending, created_at, ...toTerms(entry), usage };
}
