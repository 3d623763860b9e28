// One listening server: the HTTP app over a registry, on a port. Closing it leaves the registry alone: several may share one.
import type { AddressInfo } from "node:net";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { addressOf } from "./address.ts";
import { buildApp, type AppDependencies } from "./app.ts";
import { ConfigError, type ServerConfig } from "./config.ts";
import type { OpenListener } from "./control/server-state.ts";
import { renewTls } from "./http-server.ts";
import { farewellMs } from "./http/broken-requests.ts";
import { watchTls } from "./tls-files.ts";
import { variants } from "./variants.ts";
import { WireError } from "./wire-error.ts";

/** Ports that are tried after a taken one. */
const portTriesMax = 100;
const portMax = 65_535;

/** What goes wrong and ends nothing. */
export type Warn = (sentence: string, about?: object) => void;

export type ListenAdvice = Readonly<Record<"port" | "host", string>>;
const flagAdvice: ListenAdvice = { port: "choose another with --port", host: "choose another with --host" };

export interface ListenerDependencies extends Omit<AppDependencies, "tls"> {
  /** How often certificate files are looked at. Default: every two seconds. */
  lookEveryMs?: number | undefined;
  /** Default: the listener's own log. */
  warn?: Warn;
  /** How a person chooses another port or host, as the end of a sentence. Default: by the flags of the command line. */
  advice?: ListenAdvice;
  /** Ports to try in this order. Default: the config's, and those after it where the variant wants that. */
  ports?: readonly number[];
}

export interface Listener extends OpenListener {
  readonly log: FastifyBaseLogger;
}

/** Starts to listen. Throws ConfigError when the address cannot be had or the certificate not be used. */
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
  const { lookEveryMs, warn, ports = portsOf(config), advice = flagAdvice, ...ofApp } = dependencies;
  let app: FastifyInstance | undefined;
  const tls = await watchTls(config.tls, {
    lookEveryMs,
    signal: stopping.signal,
    onChange: (material) => app !== undefined && renewTls(app.server, material),
    onFailure: (err) => {
      const sentence = "the certificate has changed and cannot be used; the one from before stays in use";
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
  return { url: addressOf(config, port), port, log: app.log, openRequests, close };
}

function portsOf({ port, variant }: ServerConfig): readonly number[] {
  return variants[variant].portFallback ? portsFrom(port) : [port];
}

/** A port and those after it; 0, any free one, stands for itself. */
export function portsFrom(port: number): readonly number[] {
  const count = port === 0 ? 1 : Math.min(portTriesMax, portMax - port) + 1;
  return Array.from({ length: count }, (_, index) => port + index);
}

/** Listens on the first of the ports that is free, and returns it. */
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
        listenTextResolver: () => `listening on ${addressOf(config, portOf(app))}`,
      });
      return portOf(app);
    } catch (error) {
      if (codeOf(error) === "EADDRINUSE" && index < ports.length - 1) continue;
      await app.close();
      throw cannotListen(error, { host, port, advice });
    }
  }
  throw new Error("There is no port to listen on.");
}

function portOf(app: FastifyInstance): number {
  const address: AddressInfo | string | null = app.server.address();
  if (address === null || typeof address === "string")
    throw new Error("The server listens, but not on a port.");
  return address.port;
}

function cannotListen(
  error: unknown,
  { host, port, advice }: { host: string; port: number; advice: ListenAdvice },
): unknown {
  switch (codeOf(error)) {
    case "EADDRINUSE":
      return new ConfigError("--port", `Port ${port} on ${host} is taken; ${advice.port}.`, {
        cause: error,
      });
    case "EACCES":
      return new ConfigError("--port", `Port ${port} needs more rights; choose one above 1023.`, {
        cause: error,
      });
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new ConfigError("--host", `${host} is no address of this machine; ${advice.host}.`, {
        cause: error,
      });
    default:
      return error;
  }
}

function codeOf(error: unknown): unknown {
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
