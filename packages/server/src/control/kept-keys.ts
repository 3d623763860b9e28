// The API keys that the app makes for its `/v1` server, kept in a file as digests. A change holds at once for the server that
// runs, too: its key ring is told.
import { randomBytes, randomUUID } from "node:crypto";
import { keyNameLengthMax, keysMax, KeyScopeName, type NewServerKey, type ServerKey } from "@ingle/protocol";
import { z } from "zod";
import type { KeyRing } from "../access/key-ring.ts";
import { digestOfKey, type KeyScope } from "../api-key.ts";
import { WireError } from "../wire-error.ts";
import { StateFile } from "./state-file.ts";

/** Bytes of a key: nobody guesses it. */
const keyBytes = 32;
/** By it, a key of ours is found in a text that should hold none. */
const keyPrefix = "sk-ingle-";
/** Characters of a key that are shown, so that a person tells it from others. */
const endingLength = 4;

const KeptKey = z.object({
  id: z.string().min(1),
  name: z.string().min(1).max(keyNameLengthMax),
  scope: KeyScopeName,
  ending: z.string().max(endingLength),
  created_at: z.int(),
  /** SHA-256 in hexadecimal. */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
});
type KeptKey = z.infer<typeof KeptKey>;
const KeyFile = z.object({ version: z.literal(1), keys: z.array(KeptKey).max(keysMax) });
type KeyFile = z.infer<typeof KeyFile>;

export class KeptKeys {
  readonly #file: StateFile<KeyFile>;
  /** Of the server that runs. */
  #ring: KeyRing | undefined;

  private constructor(file: StateFile<KeyFile>) {
    this.#file = file;
  }

  static async open(file: string): Promise<KeptKeys> {
    return new KeptKeys(await StateFile.open(file, KeyFile, { version: 1, keys: [] }));
  }

  /** Why the keys that were kept cannot be used, in a sentence; nobody knows then which there should be. */
  get problem(): string | undefined {
    return this.#file.problem;
  }

  get size(): number {
    return this.#file.current.keys.length;
  }

  /** The newest first. */
  list(): ServerKey[] {
    return this.#file.current.keys.map(shown).toReversed();
  }

  /** Digests of the keys that have this scope. */
  digests(scope: KeyScope): string[] {
    const { keys } = this.#file.current;
    return keys.filter((key) => key.scope === scope).map(({ digest }) => digest);
  }

  /** Makes a key. The answer is the only place where it stands. Throws `invalid_request` when there are too many. */
  async create(
    { name, scope }: Pick<ServerKey, "name" | "scope">,
    now: Date = new Date(),
  ): Promise<NewServerKey> {
    const key = keyPrefix + randomBytes(keyBytes).toString("base64url");
    const about = { id: randomUUID(), name, scope, ending: key.slice(-endingLength) };
    const kept = { ...about, created_at: Math.floor(now.getTime() / 1000), digest: digestOfKey(key) };
    await this.#change((keys) => {
      if (keys.length < keysMax) return [...keys, kept];
      throw new WireError("invalid_request", `There are ${keysMax} keys already; revoke one first.`);
    });
    return { ...shown(kept), key };
  }

  /** From here on the key lets nobody in. Throws `invalid_request` where there is none of this id. */
  async revoke(id: string): Promise<void> {
    await this.#change((keys) => {
      if (keys.some((key) => key.id === id)) return keys.filter((key) => key.id !== id);
      throw new WireError("invalid_request", "There is no key of this id.", { param: "id" });
    });
  }

  /** From now on the ring has these keys, as they change, until another ring takes its place. */
  keepIn(ring: KeyRing): void {
    this.#ring = ring;
    const names = new Map(this.#file.current.keys.map(({ digest, name }) => [digest, name]));
    for (const scope of KeyScopeName.options)
      ring.replace(`kept for ${scope}`, scope, this.digests(scope), names);
    // Once there was a key, a server stays closed without one: revoking the last opens it to nobody.
    if (this.size > 0) ring.needKey();
  }

  async #change(change: (keys: readonly KeptKey[]) => KeptKey[]): Promise<void> {
    await this.#file.change(({ keys }) => ({ version: 1, keys: change(keys) }));
    if (this.#ring !== undefined) this.keepIn(this.#ring);
  }
}

/** Without its digest. */
function shown({ id, name, scope, ending, created_at }: KeptKey): ServerKey {
  return { id, name, scope, ending, created_at };
}
