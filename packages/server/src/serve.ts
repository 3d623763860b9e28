// Listens: from a config to a running server, and back. Called by the command line and by programs.
import type { AddressInfo } from "node:net";
import type { MemoryBudget } from "@ingle/engine";
import type { FastifyInstance } from "fastify";
import { buildApp } from "./app.ts";
import { ConfigError, type ServerConfig } from "./config.ts";
import { loggerSetting, type LoggerSetting } from "./logger.ts";
import { readTls } from "./tls-files.ts";
import type { ModelLibrary } from "./models/model-library.ts";
import type { ModelSource } from "./models/known-model.ts";
import { ModelRegistry } from "./models/registry.ts";
import { variants } from "./variants.ts";
import { WireError } from "./wire-error.ts";

/** Ports that are tried after a taken one. */
const portTriesMax = 100;
const portMax = 65_535;
/** After the cut, replies have this long to say that they were cut, before their connections end. */
const farewellMs = 1_000;

export interface ServeDependencies {
  /** Default: readable lines on a terminal, JSON elsewhere, on stderr. */
  logger?: LoggerSetting;
  /** Default: one by the config, without models; fill it with `registry.load()`. */
  registry?: ModelRegistry;
  /** Models that requests may name beside those. Default: none. */
  source?: ModelSource | undefined;
  /** Whose models /api/v1 looks for, fetches and removes. Default: none. */
  library?: ModelLibrary | undefined;
  /** Memory that all models may take together. Default: nothing is accounted. */
  budget?: MemoryBudget | undefined;
}

export interface RunningServer extends AsyncDisposable {
  /** Such as `http://127.0.0.1:1337`, with the port that is really used. */
  readonly url: string;
  readonly port: number;
  readonly registry: ModelRegistry;
  /**
   * Takes no new requests, lets running ones end until the deadline (default: the config's), then cuts them, and
   * frees the model. Idempotent.
   */
  close(options?: { deadlineMs?: number }): Promise<void>;
}

/** Starts to listen. Throws ConfigError when the address cannot be had. */
export async function serve(
  config: ServerConfig,
  dependencies: ServeDependencies = {},
): Promise<RunningServer> {
  const { source, budget, library } = dependencies;
  let app: FastifyInstance | undefined;
  const { waitingMax } = config.engine;
  const onSourceFailure = (error: unknown): void =>
    app?.log.warn({ err: error }, "the models of this machine cannot be listed");
  const registry =
    dependencies.registry ??
    new ModelRegistry({ ...config.models, waitingMax, source, onSourceFailure, budget });
  const logger =
    dependencies.logger ?? (await loggerSetting({ level: "info", isTerminal: process.stderr.isTTY }));
  const tls = config.tls === undefined ? undefined : await readTls(config.tls);
  app = await buildApp(config, { registry, library, logger, tls });
  const port = await listen(app, config);

  let closing: Promise<void> | undefined;
  const close = async (options: { deadlineMs?: number } = {}): Promise<void> => {
    closing ??= shutDown(app, registry, options.deadlineMs ?? config.limits.drainDeadlineMs);
    await closing;
  };
  return { url: urlOf(config, port), port, registry, close, [Symbol.asyncDispose]: () => close() };
}

/** Listens on the config's port, or on the next free one where the variant wants that. Returns the port. */
async function listen(app: FastifyInstance, config: ServerConfig): Promise<number> {
  const { host } = config;
  const canMove = variants[config.variant].portFallback && config.port !== 0;
  const lastPort = canMove ? Math.min(config.port + portTriesMax, portMax) : config.port;
  for (let port = config.port; ; port += 1) {
    try {
      await app.listen({
        host,
        port,
        listenTextResolver: () => `listening on ${urlOf(config, portOf(app))}`,
      });
      return portOf(app);
    } catch (error) {
      if (codeOf(error) === "EADDRINUSE" && port < lastPort) continue;
      await app.close();
      throw cannotListen(error, host, port);
    }
  }
}

function portOf(app: FastifyInstance): number {
  const address: AddressInfo | string | null = app.server.address();
  if (address === null || typeof address === "string")
    throw new Error("The server listens, but not on a port.");
  return address.port;
}

function cannotListen(error: unknown, host: string, port: number): unknown {
  switch (codeOf(error)) {
    case "EADDRINUSE":
      return new ConfigError("--port", `Port ${port} on ${host} is taken; choose another with --port.`, {
        cause: error,
      });
    case "EACCES":
      return new ConfigError("--port", `Port ${port} needs more rights; choose one above 1023.`, {
        cause: error,
      });
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new ConfigError("--host", `${host} is no address of this machine; choose another with --host.`, {
        cause: error,
      });
    default:
      return error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? Reflect.get(error, "code") : undefined;
}

/** An address that a program on this machine can use: the one that means "all" is none. */
function urlOf({ host, tls }: ServerConfig, port: number): string {
  const reachable = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  const scheme = tls === undefined ? "http" : "https";
  return `${scheme}://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

async function shutDown(app: FastifyInstance, registry: ModelRegistry, deadlineMs: number): Promise<void> {
  const modelFreed = registry[Symbol.asyncDispose](); // from here on, new requests are told to go elsewhere
  const cut = setTimeout(
    () => app.cutRequests(new WireError("shutting_down", "The server is stopping.")),
    deadlineMs,
  );
  const hangUp = setTimeout(() => app.server.closeAllConnections(), deadlineMs + farewellMs);
  try {
    await app.close();
    await modelFreed;
  } finally {
    clearTimeout(cut);
    clearTimeout(hangUp);
  }
}
