// The config of a server: its settings, checked once before it starts. default < variant < environment < flag.
import { isLoopback } from "./access/ip-address.ts";
import { needsKey } from "./access/keys.ts";
import { everyHost } from "./access/origins.ts";
import { whyNotTaken } from "./api-key.ts";
import { checkedSettings, ConfigError, givenSettings, type Given } from "./settings/resolve.ts";
import type { Setting, ValuesOf } from "./settings/setting.ts";
import { settings, type ServerFlags } from "./settings/settings.ts";
import { tracingSettings, type TracingSettings } from "./tracing/settings.ts";
import { variants } from "./variants.ts";

export { ConfigError } from "./settings/resolve.ts";
export type { ServerFlags } from "./settings/settings.ts";

/** The table of settings documents each field; undefined means the engine's own default. */
export type ServerConfig = ValuesOf<typeof settings> & {
  /** Where traces are sent. Absent: nowhere. */
  tracing?: TracingSettings | undefined;
};

/**
 * Default rate limit if other machines can reach the server: far more requests per minute than people, agents and gateways send,
 * far fewer than a flood.
 */
const rateLimitBeyondLoopback = 6_000;

/** Reads flags and environment over the variant's defaults. Throws ConfigError. */
export function resolveConfig(input: { flags: ServerFlags; env: NodeJS.ProcessEnv }): ServerConfig {
  const given = givenSettings(settings, input);
  refuseWeakKeys(given);
  const { variant: name } = checkedSettings({ variant: settings.variant }, given);
  const variant = variants[name];
  const host = given.get(settings.host)?.value ?? variant.host;
  const isPrivate = typeof host === "string" && isLoopback(host);
  const defaults = { ...variant, rateLimit: isPrivate ? 0 : rateLimitBeyondLoopback };
  const config = {
    ...checkedSettings(settings, given, defaults),
    tracing: tracingSettings(input.env, (variable, why) => {
      throw new ConfigError(variable, `${variable} ${why}.`);
    }),
  };
  refuseOpenServer(config, given.get(settings.host)?.source ?? `The ${config.variant} variant`);
  refuseEveryHost(config, given.get(settings.allowHosts)?.source);
  refuseEmptyEvents(config, given.get(settings.kvEvents.publish)?.source);
  return config;
}

/** Throws for a key that can be guessed, before it becomes a digest that hides its length. The message does not repeat the key. */
function refuseWeakKeys(given: ReadonlyMap<Setting, Given>): void {
  const allowsShort = given.get(settings.insecureShortKey)?.value === true;
  for (const setting of [settings.keyDigests, settings.adminKeyDigests]) {
    const { value, source } = given.get(setting) ?? {};
    for (const key of Array.isArray(value) ? value : []) {
      const why = typeof key === "string" ? whyNotTaken(key, { allowsShort }) : undefined;
      if (why !== undefined && source !== undefined) throw new ConfigError(source, `${source} ${why}.`);
    }
  }
}

/** Whether other machines can reach a server on this host and use it without a key. */
export function isOpenToOthers({ host, hasKeys }: { host: string; hasKeys: boolean }): boolean {
  return !isLoopback(host) && !hasKeys;
}

/** An address that others can reach needs a key, or --no-auth. */
function refuseOpenServer(config: ServerConfig, source: string): void {
  if (config.noAuth || !isOpenToOthers({ host: config.host, hasKeys: needsKey(config) })) return;
  throw new ConfigError(
    source,
    `${source} binds to ${config.host}, which other machines can reach, but no key is configured. ` +
      "Set one with --api-key or INGLE_API_KEYS, or use --no-auth (INGLE_NO_AUTH=true) to serve everyone.",
  );
}

/** KV-cache events report what all requests share: with keys that is nothing, unless the keys share it. */
function refuseEmptyEvents(config: ServerConfig, source = "--kv-events"): void {
  if (config.kvEvents === undefined || !needsKey(config) || config.sharePrefixes) return;
  throw new ConfigError(
    source,
    `${source} publishes what all keys share, but each key has a prefix cache of its own. Let them share one with ` +
      "--share-prefixes (INGLE_SHARE_PREFIXES=true), or leave the events out.",
  );
}

/**
 * Any web page in the user's browser can reach a server on loopback, by a name that resolves to it. Only the list of allowed names
 * prevents that.
 */
function refuseEveryHost({ host, allowHosts }: ServerConfig, source = "--allow-host"): void {
  if (!isLoopback(host) || !allowHosts.includes(everyHost)) return;
  throw new ConfigError(
    source,
    `${source} ${everyHost} would let every web page reach a server that listens on ${host}. Name the hosts instead.`,
  );
}
