// One-time tickets in the place of the app's token, for the address that a browser is started with: other users of a machine can
// read the arguments of a program that starts. A ticket is made from the token, by whoever has it, and opens the page once
// within a minute. Used by routes/page.ts and `ingle app`.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Milliseconds: a browser that starts cold on a slow machine asks within this time. */
const lifeMs = 60_000;
const nonceBytes = 12;

/** `now` are milliseconds since 1970. */
export function ticketOf(token: string, now: number = Date.now()): string {
  const content = `${now + lifeMs}.${randomBytes(nonceBytes).toString("base64url")}`;
  return `${content}.${signatureOf(content, token)}`;
}

export class PageTickets {
  readonly #token: string;
  readonly #now: () => number;
  /** Those that were used, with the time when they expire. */
  readonly #used = new Map<string, number>();

  constructor(token: string, now: () => number = () => Date.now()) {
    this.#token = token;
    this.#now = now;
  }

  /** Whether it opens the page now; it never does so again. */
  redeem(ticket: string): boolean {
    const [, content = "", expiry = "", signature = ""] =
      /^((\d{1,15})\.[\w-]+)\.([\w-]+)$/.exec(ticket) ?? [];
    const expiresAt = Number(expiry);
    const now = this.#now();
    if (content === "" || !isSame(signature, signatureOf(content, this.#token))) return false;
    for (const [used, usedUntil] of this.#used) if (usedUntil < now) this.#used.delete(used);
    // A signature of ours is for no longer than this; one that says more was made by a clock that was set back.
    if (expiresAt < now || expiresAt > now + lifeMs || this.#used.has(content)) return false;
    this.#used.set(content, expiresAt);
    return true;
  }
}

function signatureOf(content: string, token: string): string {
  return createHmac("sha256", token).update(`ingle page ${content}`).digest("base64url");
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
