// One listening server: the HTTP app on a port. Closing it does not close the registry, which several listeners may share.
import type { AddressInfo } from "node:net";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { serverUrl } from "./access/ip-address.ts";
import { buildApp, type AppDependencies } from "./app.ts";
import { ConfigError, type ServerConfig } from "./config.ts";
import type { OpenListener } from "./control/server-state.ts";
import { renewTls } from "./http-server.ts";
import { farewellMs } from "./http/broken-requests.ts";
import { watchTls } from "./tls-files.ts";
import { variants } from "./variants.ts";
import { WireError } from "./wire-error.ts";

/** Number of further ports to try if one is taken. */
const portTriesMax = 100;
const portMax = 65_535;

/** Reports a problem that does not end the server. */
export type Warn = (sentence: string, about?: object) => void;

type ListenAdvice = Readonly<Record<"port" | "host", string>>;
const flagAdvice: ListenAdvice = { port: "choose another with --port", host: "choose another with --host" };

interface ListenerDependencies extends Omit<AppDependencies, "tls"> {
  /** Interval for checking certificate files, in milliseconds. Default: two seconds. */
  lookEveryMs?: number | undefined;
  /** Default: the listener's log. */
  warn?: Warn;
  /** How to choose another port or host, as the end of a sentence. Default: with the command line's flags. */
  advice?: ListenAdvice;
  /** Ports to try, in order. Default: the config's, and the ones after it if the variant has a port fallback. */
  ports?: readonly number[];
}

export interface Listener extends OpenListener {
  readonly log: FastifyBaseLogger;
}

/** Starts to listen. Throws ConfigError if the address is not available or the certificate is unusable. */
export async function openListener(
  config: ServerConfig,
  dependencies: ListenerDependencies,
): Promise<Listener> {
  const stopping = new AbortController();
  try {
    return await open(config, dependencies, stopping);
  } catch (error) {
    stopping.abort();
    throw error;
  }
}

/** `stopping` is aborted when the listener is closed. */
async function open(
  config: ServerConfig,
  dependencies: ListenerDependencies,
  stopping: AbortController,
): Promise<Listener> {
  const { lookEveryMs, warn, ports = portsToTry(config), advice = flagAdvice, ...ofApp } = dependencies;
  let app: FastifyInstance | undefined;
  const tls = await watchTls(config.tls, {
    lookEveryMs,
    signal: stopping.signal,
    onChange: (material) => app !== undefined && renewTls(app.server, material),
    onFailure: (err) => {
      const sentence = "the changed certificate cannot be used; the previous one stays in use";
      if (warn !== undefined) warn(sentence, { err });
      else app?.log.warn({ err }, sentence);
    },
  });
  app = await buildApp(config, { ...ofApp, tls });
  const port = await listen(app, config, { ports, advice });
  let closing: Promise<void> | undefined;
  const close: Listener["close"] = async ({ deadlineMs = config.limits.drainDeadlineMs } = {}) => {
    stopping.abort();
    closing ??= drainAndClose(app, deadlineMs);
    await closing;
  };
  const openRequests = (): number => app.openRequests();
  return { url: serverUrl(config, port), port, log: app.log, openRequests, close };
}

function portsToTry({ port, variant }: ServerConfig): readonly number[] {
  return variants[variant].portFallback ? portsFrom(port) : [port];
}

/** A port and the ones after it. 0, for any free port, stays alone. */
export function portsFrom(port: number): readonly number[] {
  const count = port === 0 ? 1 : Math.min(portTriesMax, portMax - port) + 1;
  return Array.from({ length: count }, (_, index) => port + index);
}

/** Listens on the first free port, and returns it. */
async function listen(
  app: FastifyInstance,
  config: ServerConfig,
  { ports, advice }: { ports: readonly number[]; advice: ListenAdvice },
): Promise<number> {
  const { host } = config;
  for (const [index, port] of ports.entries()) {
    try {
      await app.listen({
        host,
        port,
        listenTextResolver: () => `listening on ${serverUrl(config, boundPort(app))}`,
      });
      return boundPort(app);
    } catch (error) {
      if (errorCode(error) === "EADDRINUSE" && index < ports.length - 1) continue;
      await app.close();
      throw cannotListen(error, { host, port, advice });
    }
  }
  throw new Error("No port to listen on was given.");
}

function boundPort(app: FastifyInstance): number {
  const address: AddressInfo | string | null = app.server.address();
  if (address === null || typeof address === "string")
    throw new Error("The server listens, but not on a port.");
  return address.port;
}

function cannotListen(
  error: unknown,
  { host, port, advice }: { host: string; port: number; advice: ListenAdvice },
): unknown {
  switch (errorCode(error)) {
    case "EADDRINUSE":
      return new ConfigError("--port", `Port ${port} on ${host} is taken; ${advice.port}.`, {
        cause: error,
      });
    case "EACCES":
      return new ConfigError("--port", `Port ${port} requires more privileges; choose one above 1023.`, {
        cause: error,
      });
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new ConfigError("--host", `${host} is not an address of this machine; ${advice.host}.`, {
        cause: error,
      });
    default:
      return error;
  }
}

function errorCode(error: unknown): unknown {
  return error instanceof Error ? Reflect.get(error, "code") : undefined;
}

async function drainAndClose(app: FastifyInstance, deadlineMs: number): Promise<void> {
  const cut = setTimeout(
    () => app.cutRequests(new WireError("shutting_down", "The server is stopping.")),
    deadlineMs,
  );
  const hangUp = setTimeout(() => app.server.closeAllConnections(), deadlineMs + farewellMs);
  try {
    await app.close();
  } finally {
    clearTimeout(cut);
    clearTimeout(hangUp);
  }
}
