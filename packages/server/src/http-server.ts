// Node's HTTP or HTTPS server with limits that apply before a request exists.
import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { Server as TlsServer } from "node:tls";
import { clientNetwork } from "./access/ip-address.ts";
import type { ServerConfig } from "./config.ts";

/** Certificate and private key, in PEM. */
export interface TlsMaterial {
  cert: Buffer;
  key: Buffer;
}

/** Maximum size of a request's headers in bytes: browsers and agents send two or three kilobytes, and a large token fits too. */
const headerBytesMax = 16 * 1024;
/** Maximum number of headers; Node drops the rest. 16 KiB hold no more useful ones. */
const headersMax = 200;
/** Keep-alive timeout: longer than the 60 seconds of common load balancers. */
const idleConnectionMs = 65_000;
/** Maximum number of connections, most of them idle; further ones are closed at once. */
const connectionsMax = 4_096;
/** Time for a TLS handshake: a few round trips. */
const handshakeMs = 10_000;
/** How often Node checks for slow connections within their shortest limit. */
const slowChecksPerLimit = 4;

/** Creates the server without listening. Throws Node's error for an unreadable certificate or key. */
export function httpServer(
  listener: RequestListener,
  limits: ServerConfig["limits"],
  tls: TlsMaterial | undefined,
): Server {
  const options: ServerOptions = {
    maxHeaderSize: headerBytesMax,
    headersTimeout: Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs),
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: idleConnectionMs,
    connectionsCheckingInterval: Math.ceil(
      Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs) / slowChecksPerLimit,
    ),
  };
  const server =
    tls === undefined
      ? createServer(options, listener)
      : createSecureServer({ ...options, ...tls, handshakeTimeout: handshakeMs }, listener);
  server.maxHeadersCount = headersMax;
  server.maxConnections = connectionsMax;
  return server;
}

/** Uses this certificate for new connections; open ones keep theirs. Throws Node's error if it is unusable. */
export function renewTls(server: Server, { cert, key }: TlsMaterial): void {
  if (server instanceof TlsServer) server.setSecureContext({ cert, key });
}

/**
 * Closes new connections of one address beyond `max`; 0 disables the limit. Exempt are programs on this machine, which belong to
 * its user, and proxies, which stand for many clients. The total limit still applies to them.
 */
export function limitConnections(
  server: Server,
  { max, isExempt }: { max: number; isExempt: (address: string) => boolean },
): Server {
  if (max === 0) return server;
  const open = new Map<string, number>();
  server.on("connection", (socket) => {
    const { remoteAddress: address } = socket;
    if (address === undefined || isExempt(address)) return;
    const client = clientNetwork(address);
    const count = (open.get(client) ?? 0) + 1;
    if (count > max) {
      socket.destroy();
      return;
    }
    open.set(client, count);
    socket.once("close", () => {
      const left = (open.get(client) ?? 1) - 1;
      if (left === 0) open.delete(client);
      else open.set(client, left);
    });
  });
  return server;
}
