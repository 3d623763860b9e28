// The cookies by which a browser stands for a key: a page never holds the key itself, and no script can read the cookie. A
// cookie is a random secret of its own and lasts until its key is taken away or the server ends. Used by plugins/auth.ts and
// by the routes that begin a session.
//
// Browsers send a cookie to every port of its host. So its name has the port, and whether a request with it counts is
// decided by where the request comes from (rights.ts).
import { randomBytes } from "node:crypto";
import { digestOfKey } from "../api-key.ts";

/** Bytes of the secret. */
const secretBytes = 32;
/** Sessions that are remembered; beyond it the oldest is forgotten: a browser begins one, and another when it is started anew. */
const sessionsMax = 1_000;

/** By what address the browser has asked. */
export interface CookiePlace {
  /** `http` or `https`. */
  readonly protocol: string;
  /** Of the Host header; null where it has none. */
  readonly port: number | null;
}

export class Sessions {
  /** Digests of the secrets, and of the keys that they stand for. */
  readonly #keyDigests = new Map<string, string>();

  /** A new secret that stands for this key. */
  begin(keyDigest: string): string {
    const secret = randomBytes(secretBytes).toString("base64url");
    this.#keyDigests.set(digestOfKey(secret), keyDigest);
    for (const oldest of this.#keyDigests.keys()) {
      if (this.#keyDigests.size <= sessionsMax) break;
      this.#keyDigests.delete(oldest);
    }
    return secret;
  }

  /** The digests of the keys that the cookies of a request stand for. */
  keyDigests(cookies: string | undefined, place: CookiePlace): string[] {
    return secretsIn(cookies, place).flatMap((secret) => this.#keyDigests.get(digestOfKey(secret)) ?? []);
  }
}

/** The value of Set-Cookie: no script reads it, and no other site's page has it sent. */
export function cookieOf(secret: string, place: CookiePlace): string {
  const secure = place.protocol === "https" ? "; Secure" : "";
  return `${nameOf(place)}=${secret}; HttpOnly; SameSite=Strict; Path=/${secure}`;
}

/** Another server on the same host may have set one of the same name before ours: each is looked at. */
function secretsIn(cookies: string | undefined, place: CookiePlace): string[] {
  const prefix = `${nameOf(place)}=`;
  return (cookies ?? "")
    .split(";")
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie.startsWith(prefix))
    .map((cookie) => cookie.slice(prefix.length));
}

function nameOf({ protocol, port }: CookiePlace): string {
  return `ingle-${port ?? (protocol === "https" ? 443 : 80)}`;
}
