// The API keys that the app creates for its `/v1` server, kept in a file as digests. Changes apply to the running server at once,
// through its key ring.
import { randomBytes, randomUUID } from "node:crypto";
import { keyNameLengthMax, keysMax, KeyScopeName, type NewServerKey, type ServerKey } from "@ingle/protocol";
import { z } from "zod";
import type { KeyRing } from "../access/keys.ts";
import { hashKey, type KeyScope } from "../api-key.ts";
import { WireError } from "../wire-error.ts";
import { StateFile } from "../state-file.ts";
import { toUnixSeconds } from "../seconds.ts";

/** Random bytes of a key: too many to guess. */
const keyBytes = 32;
/** Makes leaked keys easy to find, for example by secret scanners. */
const keyPrefix = "sk-ingle-";
/** Number of trailing characters that are shown, so that people can tell keys apart. */
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
  /** The key ring of the running server. */
  #ring: KeyRing | undefined;

  private constructor(file: StateFile<KeyFile>) {
    this.#file = file;
  }

  static async open(file: string): Promise<KeptKeys> {
    return new KeptKeys(await StateFile.open(file, KeyFile, { version: 1, keys: [] }));
  }

  /** A sentence that says why the key file cannot be used. The keys in it are unknown then. */
  get problem(): string | undefined {
    return this.#file.problem;
  }

  get size(): number {
    return this.#file.current.keys.length;
  }

  /** Newest first. */
  list(): ServerKey[] {
    return this.#file.current.keys.map(shown).toReversed();
  }

  /** Digests of the keys with this scope. */
  digests(scope: KeyScope): string[] {
    const { keys } = this.#file.current;
    return keys.filter((key) => key.scope === scope).map(({ digest }) => digest);
  }

  /** Creates a key, which only the returned object contains. Throws `invalid_request` if there are too many. */
  async create(
    { name, scope }: Pick<ServerKey, "name" | "scope">,
    now: Date = new Date(),
  ): Promise<NewServerKey> {
    const key = keyPrefix + randomBytes(keyBytes).toString("base64url");
    const about = { id: randomUUID(), name, scope, ending: key.slice(-endingLength) };
    const kept = { ...about, created_at: toUnixSeconds(now), digest: hashKey(key) };
    await this.#change((keys) => {
      if (keys.length < keysMax) return [...keys, kept];
      throw new WireError("invalid_request", `There are already ${keysMax} keys; revoke one first.`);
    });
    return { ...shown(kept), key };
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
    const names = new Map(this.#file.current.keys.map(({ digest, name }) => [digest, name]));
    for (const scope of KeyScopeName.options)
      ring.replace(`kept for ${scope}`, scope, this.digests(scope), names);
    // A server that had a key continues to require one: revoking the last key must not open it to everybody.
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
