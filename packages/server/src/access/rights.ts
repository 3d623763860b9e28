// What a request may do. One function decides it from its arguments alone; the auth plugin gathers them.
import type { KeyScope } from "../api-key.ts";

/** In rising order: a right includes those before it. */
export const rights = ["none", "inference", "management"] as const;
/** `inference` allows using models; `management` also loading, downloading, removing and searching them. */
export type Right = (typeof rights)[number];

/** Where a request with a cookie comes from: browsers send cookies whichever page causes the request. */
export interface CookieSender {
  /** It was sent by a web page or an app that this server has not served. */
  readonly isForeignPage: boolean;
  /** Its Origin is this server's own. Browsers leave it out of requests that only read. */
  readonly isFromOwnOrigin: boolean;
  /** It changes nothing: GET or HEAD. */
  readonly isReading: boolean;
  /** Its host name is loopback, or this server accepts cookies under its other names too. */
  readonly isCookieHost: boolean;
}

/** Everything about the client that decides what it may do. */
export interface Asker extends CookieSender {
  /** What the key of the request allows; `none` where it has no key that is known. */
  readonly key: "none" | KeyScope;
  /** The same of the key that its cookie stands for. */
  readonly cookie: "none" | KeyScope;
  /** It comes from a program on this machine, through no proxy and by a name of loopback. */
  readonly isLocal: boolean;
  /** Keys are configured: nothing is allowed without one. */
  readonly needsKey: boolean;
}

/** The right of a request. */
export function rightOf(asker: Asker): Right {
  const { key, isLocal, isForeignPage, needsKey } = asker;
  const cookie = cookieCounts(asker) ? asker.cookie : "none";
  if (key !== "none" || cookie !== "none") return includes(key, cookie) ? key : cookie;
  if (needsKey) return "none";
  return isLocal && !isForeignPage ? "management" : "inference";
}

/** Whether the cookie counts: a page of this server has sent the request. */
export function cookieCounts(sender: CookieSender): boolean {
  const { isForeignPage, isFromOwnOrigin, isReading, isCookieHost } = sender;
  return isCookieHost && !isForeignPage && (isReading || isFromOwnOrigin);
}

export function includes(right: Right, needed: Right): boolean {
  return rights.indexOf(right) >= rights.indexOf(needed);
}
