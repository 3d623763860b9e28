// Which addresses belong to the public internet: nothing else may be reached for somebody who only sends a request.
import { BlockList, isIP } from "node:net";

/** IPv4 that is not public, by the special-purpose registry of IANA (RFC 6890), with multicast and what is reserved. */
const notPublicIpv4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const;

/** Of IPv6 only these are given to networks of the world … */
const globalUnicast = ["2000::", 3] as const;
/** … but for protocols, documentation, and addresses that hold one of IPv4 (6to4; Teredo lies in 2001::/23). */
const notPublicIpv6 = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const;

const blocked = new BlockList();
for (const [net, bits] of notPublicIpv4) blocked.addSubnet(net, bits, "ipv4");
for (const [net, bits] of notPublicIpv6) blocked.addSubnet(net, bits, "ipv6");
const global = new BlockList();
global.addSubnet(...globalUnicast, "ipv6");

/** Whether `address` (IPv4 or IPv6, without brackets) is public. Anything that is no address is not. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !blocked.check(address, "ipv4");
  return family === 6 && global.check(address, "ipv6") && !blocked.check(address, "ipv6");
}
