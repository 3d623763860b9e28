// Decides what a request may do, and whether a program on this machine sent it. Both are pure functions; the auth plugin gathers
// their arguments.
import type { IncomingHttpHeaders } from "node:http";
import type { KeyScope } from "../api-key.ts";
import { isLoopback, isLoopbackAddress } from "./ip-address.ts";

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
  /** It changes nothing (GET or HEAD), and the browser tells that a page of this server, or its user, has sent it. */
  readonly isOwnReading: boolean;
  /** Its host name is a loopback name, or this server also accepts cookies under other names. */
  readonly isCookieHost: boolean;
}

/** Everything that decides what a client may do. */
export interface Asker extends CookieSender {
  /** The right of the request's key; `none` without a known key. */
  readonly key: "none" | KeyScope;
  /** The right of the key that its cookie stands for. */
  readonly cookie: "none" | KeyScope;
  /** It comes from a program on this machine, without a proxy and by a loopback name. */
  readonly isLocal: boolean;
  /** Keys are configured: nothing is allowed without one. */
  readonly needsKey: boolean;
}

/** The right of a request. */
export function decideRight(asker: Asker): Right {
  const { key, isLocal, isForeignPage, needsKey } = asker;
  const cookie = cookieCounts(asker) ? asker.cookie : "none";
  if (key !== "none" || cookie !== "none") return includes(key, cookie) ? key : cookie;
  if (needsKey) return "none";
  return isLocal && !isForeignPage ? "management" : "inference";
}

/** Whether the cookie counts: a page of this server has sent the request. */
export function cookieCounts(sender: CookieSender): boolean {
  const { isForeignPage, isFromOwnOrigin, isOwnReading, isCookieHost } = sender;
  return isCookieHost && !isForeignPage && (isOwnReading || isFromOwnOrigin);
}

export function includes(right: Right, needed: Right): boolean {
  return rights.indexOf(right) >= rights.indexOf(needed);
}

/** Whether somebody may use a model: others do not exist for them. */
export type MayUse = (model: { readonly names: readonly string[] }) => boolean;

export const mayUseAll: MayUse = () => true;

/** Allows the models of which an id or alias is in a list; `*` stands for any characters. */
export function onlyModels(patterns: readonly string[]): MayUse {
  const parts = patterns.map((pattern) => pattern.split("*").map(escaped).join(".*"));
  const any = new RegExp(`^(?:${parts.join("|")})$`, "s");
  return ({ names }) => names.some((name) => any.test(name));
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

/**
 * Headers that proxies, tunnels and content networks add to a request that they forward. Clients do not send them; a header
 * that is missing here would make a remote client a local one.
 */
const forwardingHeader =
  /^(forwarded|via|cdn-loop|cf-ray|x-(original-)?forwarded(-.*)?|x-original-.*|x-real-ip|x-envoy-.*|x-arr-.*|.*-client-?ip|.*-connecting-ip)$/;

/** Everything that decides whether a request comes from this machine. */
export interface Arrival {
  /** The other end of the connection. */
  readonly peer: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** The peer is one of --trust-proxy, so its `X-Forwarded-For` is believed. */
  readonly isTrustedProxy: boolean;
  /** The client's address, according to the trusted proxies. */
  readonly clientAddress: string;
  /** The host names of the request, without ports. */
  readonly hostNames: readonly (string | undefined)[];
}

/**
 * Whether a program on this machine sends the request itself. A trusted proxy must name its client; a forwarding header
 * from any other peer means that an unknown client is behind it.
 */
export function isLocalClient({ peer, headers, isTrustedProxy, clientAddress, hostNames }: Arrival): boolean {
  if (!hostNames.every((name) => name !== undefined && isLoopback(name))) return false;
  if (isTrustedProxy) return headers["x-forwarded-for"] !== undefined && isLoopbackAddress(clientAddress);
  return isLoopbackAddress(peer) && !Object.keys(headers).some((name) => forwardingHeader.test(name));
}
