// The settings of the app's two servers: what the environment says of models and limits holds for both, and nothing of what it
// says of `ingle serve`'s address and keys for either.
import type { ServerSettings } from "@ingle/protocol";
import { resolveConfig, type ServerConfig } from "../config.ts";
import type { Setting } from "../settings/setting.ts";
import { settings as serverSettings } from "../settings/settings.ts";

/** What the app's page decides in the place of variables. */
const ofServe: readonly Setting[] = [
  serverSettings.variant,
  serverSettings.host,
  serverSettings.port,
  serverSettings.model,
  serverSettings.keyDigests,
  serverSettings.adminKeyDigests,
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

/** Of the control address. Throws ConfigError for a variable that cannot be used. */
export function controlConfig(env: NodeJS.ProcessEnv, port: number): ServerConfig {
  const flags = { variant: "desktop", host: "127.0.0.1", port, rateLimit: 0 };
  return resolveConfig({ flags, env: withoutServe(env) });
}

/** Of the `/v1` server. Whether it may listen without a key is controlled-server.ts's to say. Throws as above. */
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
