// The keys that let requests in, as digests, and what each allows. Filled by config and key files; asked by plugins/auth.ts.
import { timingSafeEqual } from "node:crypto";
import { digestOfKey, type KeyScope } from "../api-key.ts";
import { needsKey, type KeyConfig } from "../config.ts";

export class KeyRing {
  #isNeeded: boolean;
  /** By where they come from: a file's keys are replaced together when it changes. */
  readonly #digests = new Map<string, { scope: KeyScope; digests: readonly Buffer[] }>();

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

  /** Puts keys in the place of those that came from the same source before. */
  replace(source: string, scope: KeyScope, digests: readonly string[]): void {
    this.#digests.set(source, { scope, digests: digests.map((digest) => Buffer.from(digest, "hex")) });
  }

  /** Lets a program of the server's own user manage it: the token is as good as a management key. */
  addToken(token: string): void {
    this.replace("token", "management", [digestOfKey(token)]);
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
