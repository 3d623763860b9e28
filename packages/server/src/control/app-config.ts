// The settings of the app's two servers. The environment's settings of models and limits apply to both; its address and key
// settings for `ingle serve` apply to neither.
import type { ServerSettings } from "@ingle/protocol";
import { resolveConfig, type ServerConfig } from "../config.ts";
import type { Setting } from "../settings/setting.ts";
import { settings as serverSettings } from "../settings/settings.ts";

/** Settings that users change on the app's page, not by environment variables. */
const ofServe: readonly Setting[] = [
  serverSettings.variant,
  serverSettings.host,
  serverSettings.port,
  serverSettings.model,
  serverSettings.keyDigests,
  serverSettings.adminKeyDigests,
  serverSettings.keys,
  serverSettings.keyFile,
  serverSettings.adminKeyFile,
  serverSettings.insecureShortKey,
  serverSettings.noAuth,
  serverSettings.allowHosts,
  serverSettings.allowOrigins,
  serverSettings.trustProxies,
  serverSettings.noUi,
  serverSettings.tls.certFile,
  serverSettings.tls.keyFile,
];

/** Configuration of the control address. Throws ConfigError for an invalid environment variable. */
export function controlConfig(env: NodeJS.ProcessEnv, port: number): ServerConfig {
  // The store's file is the `/v1` server's.
  const flags = { variant: "desktop", host: "127.0.0.1", port, rateLimit: 0, responseStore: "memory" };
  return resolveConfig({ flags, env: withoutServe(env) });
}

/** Configuration of the `/v1` server; controlled-server.ts decides whether it may listen without a key. Throws as above. */
export function publicConfig(env: NodeJS.ProcessEnv, settings: ServerSettings): ServerConfig {
  const { variant, host, port, allow_hosts: allowHost, allow_origins: allowOrigin, parallel } = settings;
  const flags = {
    variant,
    host,
    port,
    allowHost,
    allowOrigin,
    parallel: parallel ?? undefined,
    noAuth: true,
  };
  return resolveConfig({ flags, env: withoutServe(env) });
}

function withoutServe(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = new Set(ofServe.flatMap(({ variables = [] }) => variables));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.has(name)));
}
