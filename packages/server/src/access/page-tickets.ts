// One-time tickets that replace the app's token in the URL that a browser is started with: other users of the machine can read
// the arguments of a starting program. A ticket is signed with the token and opens the page once, within a minute.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Milliseconds in which even a slow machine starts a browser. */
const lifeMs = 60_000;
const nonceBytes = 12;

/** `now` are milliseconds since 1970. */
export function pageTicket(token: string, now: number = Date.now()): string {
  const content = `${now + lifeMs}.${randomBytes(nonceBytes).toString("base64url")}`;
  return `${content}.${sign(content, token)}`;
}

export class PageTickets {
  readonly #token: string;
  readonly #now: () => number;
  /** Used tickets, and when they expire. */
  readonly #used = new Map<string, number>();

  constructor(token: string, now: () => number = () => Date.now()) {
    this.#token = token;
    this.#now = now;
  }

  /** Whether the ticket is valid. It is not valid a second time. */
  redeem(ticket: string): boolean {
    const [, content = "", expiry = "", signature = ""] =
      /^((\d{1,15})\.[\w-]+)\.([\w-]+)$/.exec(ticket) ?? [];
    const expiresAt = Number(expiry);
    const now = this.#now();
    if (content === "" || !isSame(signature, sign(content, this.#token))) return false;
    for (const [used, usedUntil] of this.#used) if (usedUntil < now) this.#used.delete(used);
    // We sign for no longer than this: a later expiry means that the clock was set back since.
    if (expiresAt < now || expiresAt > now + lifeMs || this.#used.has(content)) return false;
    this.#used.set(content, expiresAt);
    return true;
  }
}

function sign(content: string, token: string): string {
  return createHmac("sha256", token).update(`ingle page ${content}`).digest("base64url");
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
