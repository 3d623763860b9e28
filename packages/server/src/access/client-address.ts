// Whether a program on this machine sends a request, by itself and through no proxy.
import type { IncomingHttpHeaders } from "node:http";
import { isLoopback, isLoopbackAddress } from "./ip-address.ts";

/**
 * Headers by which proxies, tunnels and content networks say that they pass a request on. None is sent by a program that
 * asks by itself; one that is missed here would make an outsider a local client.
 */
const forwardingHeader =
  /^(forwarded|via|cdn-loop|cf-ray|x-(original-)?forwarded(-.*)?|x-original-.*|x-real-ip|x-envoy-.*|x-arr-.*|.*-client-?ip|.*-connecting-ip)$/;

/** What tells whether a request comes from this machine. */
export interface Arrival {
  /** The other end of the connection. */
  readonly peer: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** The peer is one of --trust-proxy: what it says of its client is believed. */
  readonly isTrustedProxy: boolean;
  /** The client's address, as the trusted proxies say it. */
  readonly clientAddress: string;
  /** The names by which the server was asked, without ports. */
  readonly hostNames: readonly (string | undefined)[];
}

/**
 * Whether a program on this machine asks, by itself. A trusted proxy has to say for whom it asks; from any other peer, a
 * header that only proxies send means that somebody unknown is behind it.
 */
export function isLocalClient({ peer, headers, isTrustedProxy, clientAddress, hostNames }: Arrival): boolean {
  if (!hostNames.every((name) => name !== undefined && isLoopback(name))) return false;
  if (isTrustedProxy) return headers["x-forwarded-for"] !== undefined && isLoopbackAddress(clientAddress);
  return isLoopbackAddress(peer) && !Object.keys(headers).some((name) => forwardingHeader.test(name));
}
