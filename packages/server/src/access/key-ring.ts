// The keys that let requests in, as digests, and what each allows. Filled by config and key files; asked by plugins/auth.ts.
import { timingSafeEqual } from "node:crypto";
import { digestOfKey, type KeyScope } from "../api-key.ts";
import { needsKey, type KeyConfig } from "../config.ts";

interface KeysOfSource {
  scope: KeyScope;
  digests: readonly Buffer[];
  /** What people call the keys, by their digests in hexadecimal. */
  names: ReadonlyMap<string, string>;
}

/** The source of the server's own token. */
const tokenSource = "token";

export class KeyRing {
  #isNeeded: boolean;
  /** By where they come from: a file's keys are replaced together when it changes. */
  readonly #digests = new Map<string, KeysOfSource>();

  /** With the keys of the config; without one, without keys. */
  constructor(config?: KeyConfig) {
    this.#isNeeded = config !== undefined && needsKey(config);
    this.replace("--api-key", "inference", config?.keyDigests ?? []);
    this.replace("--admin-key", "management", config?.adminKeyDigests ?? []);
  }

  /** Nothing is allowed without a key. The server's own token is none that asks for it: it is there always. */
  get isNeeded(): boolean {
    return this.#isNeeded;
  }

  /** From now on nothing is allowed without a key, whatever becomes of those that there are. */
  needKey(): void {
    this.#isNeeded = true;
  }

  /** Puts keys in the place of those that came from the same source before. `names`: by digest, where they have some. */
  replace(
    source: string,
    scope: KeyScope,
    digests: readonly string[],
    names: ReadonlyMap<string, string> = new Map(),
  ): void {
    this.#digests.set(source, { scope, digests: digests.map((digest) => Buffer.from(digest, "hex")), names });
  }

  /** Lets a program of the server's own user manage it: the token is as good as a management key. */
  addToken(token: string): void {
    this.replace(tokenSource, "management", [digestOfKey(token)]);
  }

  /** What a known key is called: its name, or the setting that it comes from; null for the token and for unknown ones. */
  nameOf(digest: string): string | null {
    const wanted = Buffer.from(digest, "hex");
    for (const [source, { digests, names }] of this.#digests) {
      if (source !== tokenSource && digests.some((known) => known.equals(wanted)))
        return names.get(digest) ?? source;
    }
    return null;
  }

  /** What the key of this digest allows. Looks at every key, however early one fits: the time taken tells nothing. */
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
