// The address of a server for programs on this machine. Used by listener.ts and by control/.
import type { ServerConfig } from "./config.ts";

/** Such as `http://127.0.0.1:1337`. A host that means "all addresses" is none. */
export function addressOf({ host, tls }: Pick<ServerConfig, "host" | "tls">, port: number): string {
  const reachable = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  const scheme = tls === undefined ? "http" : "https";
  return `${scheme}://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
