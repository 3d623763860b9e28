// Classifies IP addresses: this machine, the public internet, a trusted proxy, and which client an address counts for; also the
// addresses of this machine and of a server on it.
import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

/** Groups of an IPv6 address that name its network: whoever has one address of a /64 has all of them. */
const networkGroups = 4;

/** Everything in IPv6 that is assigned to public networks; the special ranges inside it are not `unicast`. */
const globalUnicast = ipaddr.parseCIDR("2000::/3");

/** Undefined for anything but an address. (ipaddr.js alone also reads `0x7f.1`.) */
function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return isIP(text) === 0 ? undefined : ipaddr.parse(text);
}

/** Parses an address, and converts an IPv4 address inside IPv6, such as `::ffff:192.0.2.1`, to IPv4. */
function parseUnmapped(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return isIP(text) === 0 ? undefined : ipaddr.process(text);
}

/** Whether a host name or address, to listen on or from a Host header, means only this machine. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || parse(host)?.range() === "loopback";
}

/** Whether the address of a socket is on this machine. False for names. */
export function isLoopbackAddress(address: string | undefined): boolean {
  return parseUnmapped(address ?? "")?.range() === "loopback";
}

/** Whether the public internet can reach this address (IPv4, or IPv6 without brackets). False for names. */
export function isPublicAddress(address: string): boolean {
  const parsed = parse(address);
  if (parsed?.range() !== "unicast") return false;
  return parsed.kind() === "ipv4" || parsed.match(globalUnicast);
}

/** The key under which a client is counted: its IPv4 address, or the /64 network of its IPv6 address. */
export function clientNetwork(address: string): string {
  const parsed = parseUnmapped(address);
  if (parsed === undefined) return address;
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return parsed.parts
    .slice(0, networkGroups)
    .map((group) => group.toString(16))
    .join(":");
}

/** Tells the trusted proxies from other peers. Each is an address, or a network such as `10.0.0.0/8`. */
export function trustedProxies(proxies: readonly string[]): (address: string | undefined) => boolean {
  const list = new BlockList();
  for (const proxy of proxies) {
    const [address = "", bits] = proxy.split("/", 2);
    const family = isIP(address) === 4 ? "ipv4" : "ipv6";
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    const peer = parseUnmapped(address ?? "");
    return peer !== undefined && list.check(peer.toString(), peer.kind());
  };
}

/** Whether a text is an address, or a network as its first address and the number of bits in its prefix. */
export function isAddressOrNetwork(text: string): boolean {
  const [, address = "", bits = "0"] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128);
}

/** Such as `http://127.0.0.1:1337`. For a host that means "all addresses", the loopback one. */
export function serverUrl({ host, tls }: { host: string; tls?: object | undefined }, port: number): string {
  const reachable = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  const scheme = tls === undefined ? "http" : "https";
  return `${scheme}://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

/** IPv4 addresses by which other machines may reach this one; none without a network. */
export function networkAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .filter(({ internal, family }) => !internal && family === "IPv4")
    .map(({ address }) => address);
}
