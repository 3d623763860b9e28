// The response of GET /api/v1/server for a server that `ingle serve` started. controlled-server.ts has that of the app's server.
import type { ServerControl } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { KeyRing } from "../access/keys.ts";
import { serverUrl } from "../access/ip-address.ts";
import type { ServerConfig } from "../config.ts";
import { variants } from "../variants.ts";

/** Returns the server's current state. Called often, so it must only take microseconds. */
export type ServerView = () => ServerControl;

/** The view of a server that runs as long as its process. */
export function runningServerView(
  app: Pick<FastifyInstance, "server" | "drainSignal" | "openRequests">,
  { config, keys }: { config: ServerConfig; keys: KeyRing },
): ServerView {
  const settings = {
    variant: config.variant,
    host: config.host,
    allow_hosts: config.allowHosts,
    allow_origins: config.allowOrigins,
    parallel: config.engine.parallel ?? null,
    models: config.model === undefined ? [] : [config.model],
    starts_with_app: false,
  };
  return () => {
    const address = app.server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    return {
      status: app.drainSignal.aborted ? "stopping" : "running",
      can_control: false,
      url: port === undefined ? null : serverUrl(config, port),
      moved_from_port: port === undefined || config.port === 0 || port === config.port ? null : config.port,
      needs_key: keys.isNeeded,
      open_requests: app.openRequests(),
      error: null,
      error_code: null,
      settings: {
        ...settings,
        port: config.port === 0 ? (port ?? variants[config.variant].port) : config.port,
      },
    };
  };
}
