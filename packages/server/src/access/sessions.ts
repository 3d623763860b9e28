// Session cookies: a browser gets one in exchange for a key, so that no page holds the key and no script can read the cookie.
// A cookie holds a random secret, and is valid until its key is removed or the server ends.
//
// Browsers send a cookie to every port of its host. So its name has the port, and rights.ts decides by the origin of the
// request whether the cookie counts.
import { randomBytes } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { hashKey } from "../api-key.ts";
import type { KnownKey } from "./keys.ts";

/** Bytes of the secret. */
const secretBytes = 32;
/** How many sessions are remembered; the oldest are forgotten first. A browser begins one at each start. */
const sessionsMax = 1_000;

/** The address that the browser used. */
interface CookiePlace {
  /** `http` or `https`. */
  readonly protocol: string;
  /** The port in the Host header; null if it has none. */
  readonly port: number | null;
}

export class Sessions {
  /** Digests of the secrets, and of the keys that they stand for. */
  readonly #keyDigests = new Map<string, string>();

  /** Begins a session for a key, and returns its secret. */
  begin(keyDigest: string): string {
    const secret = randomBytes(secretBytes).toString("base64url");
    this.#keyDigests.set(hashKey(secret), keyDigest);
    for (const oldest of this.#keyDigests.keys()) {
      if (this.#keyDigests.size <= sessionsMax) break;
      this.#keyDigests.delete(oldest);
    }
    return secret;
  }

  /** The digests of the keys behind the cookies of a request. */
  keyDigests(cookies: string | undefined, place: CookiePlace): string[] {
    return secretsIn(cookies, place).flatMap((secret) => this.#keyDigests.get(hashKey(secret)) ?? []);
  }
}

/** Sets a session cookie, which from now on authenticates as this key. */
export function beginSession(
  request: FastifyRequest,
  reply: FastifyReply,
  { sessions, key }: { sessions: Sessions; key: Pick<KnownKey, "digest"> },
): void {
  const secret = sessions.begin(key.digest);
  reply.header("cache-control", "no-store").header("set-cookie", sessionCookie(secret, cookiePlace(request)));
}

/** The address that the browser sent the request to. */
export function cookiePlace({ protocol, port }: FastifyRequest): CookiePlace {
  return { protocol, port };
}

/** The value of Set-Cookie. The cookie is hidden from scripts, and not sent by pages of other sites. */
export function sessionCookie(secret: string, place: CookiePlace): string {
  const secure = place.protocol === "https" ? "; Secure" : "";
  return `${cookieName(place)}=${secret}; HttpOnly; SameSite=Strict; Path=/${secure}`;
}

/** Another server on the same host may have set a cookie of the same name: all are checked. */
function secretsIn(cookies: string | undefined, place: CookiePlace): string[] {
  const prefix = `${cookieName(place)}=`;
  return (cookies ?? "")
    .split(";")
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie.startsWith(prefix))
    .map((cookie) => cookie.slice(prefix.length));
}

function cookieName({ protocol, port }: CookiePlace): string {
  return `ingle-${port ?? (protocol === "https" ? 443 : 80)}`;
}
