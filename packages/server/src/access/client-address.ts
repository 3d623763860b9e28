// Where a request comes from: this machine or another one, through which proxies. Used by plugins/auth.ts and hosts.ts,
// by the limits that count addresses, and by config.ts.
import type { IncomingHttpHeaders } from "node:http";
import { BlockList, isIP } from "node:net";

/** Groups of an IPv6 address that name its network: whoever has one address of it has them all. */
const networkGroups = 4;

/**
 * Headers by which proxies, tunnels and content networks say that they pass a request on. None is sent by a program that
 * asks by itself; one that is missed here would make an outsider a local client.
 */
const forwardingHeader =
  /^(forwarded|via|cdn-loop|cf-ray|x-(original-)?forwarded(-.*)?|x-original-.*|x-real-ip|x-envoy-.*|x-arr-.*|.*-client-?ip|.*-connecting-ip)$/;

/** An address as it is compared and counted: one of IPv4 inside IPv6 as that of IPv4, without an interface. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");
}

/** Whether an address of a socket, or a name to listen on or to ask by, leads to this machine alone. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** The same of an address; a name is none. */
export function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && isIP(address) !== 0 && isLoopback(plain(address));
}

/** What stands for one client where addresses are counted: an address of IPv4, a network of IPv6. */
export function networkOf(address: string): string {
  const one = plain(address);
  if (isIP(one) !== 6) return one;
  const [head = "", tail] = one.toLowerCase().split("::", 2);
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  const groups = tail === undefined ? before : [...before, ...zeros, ...after];
  return groups
    .slice(0, networkGroups)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":");
}

/** Whether a peer is one of the proxies that are believed, each an address or a network such as `10.0.0.0/8`. */
export function trustedProxies(proxies: readonly string[]): (address: string | undefined) => boolean {
  const list = new BlockList();
  for (const proxy of proxies) {
    const [address = "", bits] = proxy.split("/", 2);
    const family = familyOf(address);
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    const peer = plain(address ?? "");
    return isIP(peer) !== 0 && list.check(peer, familyOf(peer));
  };
}

/** An address, or a network as its first address and the number of bits that its addresses share. */
export function isAddressOrNetwork(text: string): boolean {
  const [, address = "", bits = "0"] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128);
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 4 ? "ipv4" : "ipv6";
}

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
