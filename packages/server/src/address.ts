// Addresses of a server, for programs on this machine and for other machines.
import { networkInterfaces } from "node:os";
import type { ServerConfig } from "./config.ts";

/** Such as `http://127.0.0.1:1337`. For a host that means "all addresses", the loopback one. */
export function addressOf({ host, tls }: Pick<ServerConfig, "host" | "tls">, port: number): string {
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
