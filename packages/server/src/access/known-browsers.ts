// The browsers that may come back after a restart of the app without its token. Each has a private key that its scripts cannot read out;
// the app keeps the public keys. A browser signs a challenge, for its own address, and gets a new session cookie.
import { createHash, createPublicKey, randomBytes, verify, type KeyObject } from "node:crypto";
import { returnText, type BrowserKey, type ReturnRequest } from "@ingle/protocol";
import { z } from "zod";
import { StateFile } from "../state-file.ts";
import { WireError } from "../wire-error.ts";

/** Browsers and profiles of one user are few; the one that was used longest ago is forgotten first. */
const browsersMax = 50;
/** A browser that was not used for this long is forgotten. */
const unusedMaxMs = 180 * 24 * 3_600_000;
/** How exactly the time of use is known: the file is not written at each start of the page. */
const useStepMs = 24 * 3_600_000;
/** Challenges that are open at the same time; a page answers its own within milliseconds. */
const challengesMax = 1_000;
const challengeLifeMs = 60_000;
const challengeBytes = 32;

const Known = z.object({
  id: z.string(),
  x: z.string(),
  y: z.string(),
  /** The address at which the key was made: the only one for which it counts. */
  origin: z.string(),
  usedAt: z.number(),
});
const BrowsersFile = z.object({ version: z.literal(1), browsers: z.array(Known) });
type Known = z.infer<typeof Known>;
type BrowsersFile = z.infer<typeof BrowsersFile>;

export class KnownBrowsers {
  readonly #file: StateFile<BrowsersFile>;
  readonly #now: () => number;
  /** When each open challenge expires, the oldest first. */
  readonly #challenges = new Map<string, number>();

  private constructor(file: StateFile<BrowsersFile>, now: () => number) {
    this.#file = file;
    this.#now = now;
  }

  /** An unusable file is as an empty one: browsers then need the token once more. `now` are milliseconds since 1970. */
  static async open(file: string, now: () => number = () => Date.now()): Promise<KnownBrowsers> {
    const initial = { version: 1, browsers: [] } as const satisfies BrowsersFile;
    return new KnownBrowsers(await StateFile.open<BrowsersFile>(file, BrowsersFile, initial), now);
  }

  /** Remembers a browser by its public key, and returns its id. Throws `invalid_request` if it is no key. */
  async remember({ x, y }: BrowserKey, origin: string): Promise<string> {
    toPublicKey({ x, y });
    const id = createHash("sha256")
      .update(`${x}.${y}.${origin}`)
      .digest()
      .subarray(0, 16)
      .toString("base64url");
    const known = this.#find(id);
    if (known === undefined || known.usedAt < this.#now() - useStepMs) await this.#use({ id, x, y, origin });
    return id;
  }

  async forget(id: string): Promise<void> {
    if (this.#find(id) === undefined) return;
    await this.#file.change(({ browsers }) => ({
      version: 1,
      browsers: browsers.filter((browser) => browser.id !== id),
    }));
  }

  /** A random text that a browser has to sign soon. */
  challenge(): string {
    const challenge = randomBytes(challengeBytes).toString("base64url");
    for (const [open, expiresAt] of this.#challenges) {
      if (this.#challenges.size < challengesMax && expiresAt >= this.#now()) break;
      this.#challenges.delete(open);
    }
    this.#challenges.set(challenge, this.#now() + challengeLifeMs);
    return challenge;
  }

  /** Whether the browser is known and has signed an open challenge for this address. No challenge is answered twice. */
  async returns({ browser: id, challenge, signature }: ReturnRequest, origin: string): Promise<boolean> {
    const expiresAt = this.#challenges.get(challenge);
    this.#challenges.delete(challenge);
    const known = this.#find(id);
    if (expiresAt === undefined || expiresAt < this.#now() || known?.origin !== origin) return false;
    const key = { key: toPublicKey(known), dsaEncoding: "ieee-p1363" } as const;
    const text = Buffer.from(returnText(origin, challenge));
    if (!verify("sha256", text, key, Buffer.from(signature, "base64url"))) return false;
    if (known.usedAt < this.#now() - useStepMs) await this.#use(known);
    return true;
  }

  #find(id: string): Known | undefined {
    const oldest = this.#now() - unusedMaxMs;
    return this.#file.current.browsers.find((browser) => browser.id === id && browser.usedAt >= oldest);
  }

  /** Puts a browser first in the list, and drops those beyond the limits. */
  async #use({ id, x, y, origin }: Omit<Known, "usedAt">): Promise<void> {
    const usedAt = this.#now();
    await this.#file.change(({ browsers }) => {
      const others = browsers.filter((each) => each.id !== id && each.usedAt >= usedAt - unusedMaxMs);
      return { version: 1, browsers: [{ id, x, y, origin, usedAt }, ...others].slice(0, browsersMax) };
    });
  }
}

function toPublicKey({ x, y }: BrowserKey): KeyObject {
  try {
    return createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
  } catch (cause) {
    throw new WireError("invalid_request", "x and y must be a public key on P-256.", { param: "x", cause });
  }
}
