// Whether a program on this machine sends a request, by itself and through no proxy.
import type { IncomingHttpHeaders } from "node:http";
import { isLoopback, isLoopbackAddress } from "./ip-address.ts";

/**
 * Headers that proxies, tunnels and content networks add to a request that they forward. Clients do not send them; a header
 * that is missing here would make a remote client a local one.
 */
const forwardingHeader =
  /^(forwarded|via|cdn-loop|cf-ray|x-(original-)?forwarded(-.*)?|x-original-.*|x-real-ip|x-envoy-.*|x-arr-.*|.*-client-?ip|.*-connecting-ip)$/;

/** What decides whether a request comes from this machine. */
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
