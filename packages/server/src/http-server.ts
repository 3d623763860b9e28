// Node's HTTP or HTTPS server under our limits: what holds before a request exists.
import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { Server as TlsServer } from "node:tls";
import { networkOf } from "./access/ip-address.ts";
import type { ServerConfig } from "./config.ts";

/** Certificate and private key, in PEM. */
export interface TlsMaterial {
  cert: Buffer;
  key: Buffer;
}

/** Headers of a request in all: browsers and agents send two or three kilobytes, a large token fits too. */
const headerBytesMax = 16 * 1024;
/** Headers of a request by number; Node drops those beyond it, and 16 KiB hold no more that mean anything. */
const headersMax = 200;
/** How long an idle connection is kept: longer than the 60 seconds of common load balancers. */
const idleConnectionMs = 65_000;
/** Connections at the same time, most of them idle; one more is closed at once. */
const connectionsMax = 4_096;
/** Time for a TLS handshake: a few round trips. */
const handshakeMs = 10_000;
/** How often Node looks for connections that are too slow, by their shortest limit. */
const slowChecksPerLimit = 4;

/** Does not listen. Throws what Node throws about a certificate or key that it cannot read. */
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

/** New connections are shown this certificate; those that are open keep theirs. Throws what Node throws about it. */
export function renewTls(server: Server, { cert, key }: TlsMaterial): void {
  if (server instanceof TlsServer) server.setSecureContext({ cert, key });
}

/**
 * Ends connections of one address beyond `max` as they come; 0 is no limit. Exempt are programs of this machine, which are
 * its user's own, and proxies, which stand for many clients: they are bounded by the connections of all.
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
    const client = networkOf(address);
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
