// The API keys of a server, as digests, and what each one allows.
import { timingSafeEqual } from "node:crypto";
import { digestOfKey, type KeyScope } from "../api-key.ts";
import { needsKey, type KeyConfig } from "../config.ts";

interface KeysOfSource {
  scope: KeyScope;
  digests: readonly Buffer[];
  /** Names of the keys by their digests in hexadecimal. */
  names: ReadonlyMap<string, string>;
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
    this.replace(tokenSource, "management", [digestOfKey(token)]);
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
