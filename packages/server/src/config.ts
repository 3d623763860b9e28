// What a server is told before it starts, checked once: built-in < variant < environment < flags.
// resolveConfig() is called by the command line; buildApp() and serve() take its result.
import { WorkerAddress, workersMax } from "@ingle/engine/worker-address";
import { KvBits } from "@ingle/protocol/kv-bits";
import { z } from "zod";
import { AllowedHost, everyHost, HostName, isHostName } from "./access/allowed-hosts.ts";
import { isAddressOrNetwork, isLoopback } from "./access/ip-address.ts";
import { AllowedOrigin } from "./access/origins.ts";
import { apiKeysMax, digestOfKey, whyNotTaken } from "./api-key.ts";
import { duration } from "./duration.ts";
import { ListenEndpoint } from "./kv-events/zmtp.ts";
import { readSettings, type ServerFlags, type SettingName, type Settings } from "./settings.ts";
import { TracingSettings, tracingSettings } from "./tracing/settings.ts";
import { VariantName, variants } from "./variants.ts";

export { isLoopback } from "./access/ip-address.ts";
export type { ServerFlags } from "./settings.ts";

/** A request's body: text is far smaller, several inline images are not. */
const bodyBytesDefault = 32 * 1024 * 1024;
/** Requests that may wait for a free sequence: minutes of work on a desk, not hours. */
const waitingMaxDefault = 256;
/** The head of a request is a few kilobytes: any uplink has sent it by then, a connection that only trickles has not. */
const headersTimeoutDefault = "20s";
/** A whole request must have arrived in this time: a slow uplink with images passes, a held-open socket does not. */
const requestTimeoutDefault = "5m";
/** A phone in a tunnel comes back within this time; one that does not read any more would keep its place for ever. */
const stalledReaderTimeoutDefault = "60s";
/** How long running replies may go on after the server was told to stop. */
const drainTimeoutDefault = "30s";
/** A model that is loaded again for every other request would never do anything else. */
const idleUnloadMinMs = 1_000;
/**
 * Requests a minute of one key or address where other machines can reach the server: far more than people, agents and
 * gateways send, far less than a flood.
 */
const rateLimitBeyondLoopback = 6_000;
/** Connections of one address: a browser keeps six, an office behind one address has dozens, a flood thousands. */
const connectionsPerAddressDefault = 256;

/** Keys as they are said; only their digests are kept. */
const KeyDigests = z
  .array(z.string().transform(digestOfKey))
  .max(apiKeysMax, `must be at most ${apiKeysMax} keys`)
  .default([]);

/** The engine reads it; this tells a slip before anything starts. */
const WorkerAddressText = z
  .string()
  .refine((text) => WorkerAddress.safeParse(text).success, "must be host:port, such as 192.168.1.20:50052");

/** A path, or what else names a file or a model. */
const PathOrName = z.string().min(1, "must not be empty").max(4096, "must be at most 4096 characters");
const ImageTokens = z
  .int("must be a whole number")
  .min(1, "must be at least 1")
  .max(16_384, "must be at most 16384");

export const ServerConfig = z
  .object({
    variant: VariantName,
    /** Address to listen on. */
    host: z.string().refine(isHostName, "must be an address or a host name"),
    /** 0 takes any free port. */
    port: z.int("must be a whole number").min(0, "must be at least 0").max(65_535, "must be at most 65535"),
    /** The model that was asked for: a path, a repository, an alias. */
    model: PathOrName.optional(),
    /** Fetches nothing: the model must be there. */
    offline: z.boolean("must be true or false").default(false),
    /** Handed to the engine as they are; absent means the engine's own default. */
    engine: z.object({
      parallel: z.int("must be a whole number").min(1, "must be at least 1").optional(),
      contextLength: z.int("must be a whole number").min(16, "must be at least 16").optional(),
      threads: z.int("must be a whole number").min(1, "must be at least 1").optional(),
      /** Bits in which a value of the KV cache is stored, and the same for keys and for values alone. */
      kvBits: KvBits.optional(),
      kvBitsK: KvBits.optional(),
      kvBitsV: KvBits.optional(),
      cacheRamMiB: z.int("must be a whole number").min(0, "must be at least 0").optional(),
      /** A folder that keeps conversations' state over restarts. */
      cacheDir: PathOrName.optional(),
      /** Requests that may wait beside those that run; one more is a 429. */
      waitingMax: z.int("must be a whole number").min(0, "must be at least 0").default(waitingMaxDefault),
      /** Whether a chat ends where the context does, or drops its oldest turns there. */
      contextOverflow: z.enum(["length", "shift"], 'must be "length" or "shift"').default("length"),
      /** Whether tokens are guessed from the text before them. */
      speculation: z.enum(["off", "ngram"], 'must be "off" or "ngram"').default("off"),
      /** A GGUF file of a smaller model that guesses tokens instead. */
      draftModel: PathOrName.optional(),
      /** The projector of the model that was asked for; absent is the one that was installed with it. */
      mmproj: PathOrName.optional(),
      /** Bounds of the tokens that it makes of a picture, or of a tile of one. */
      imageMinTokens: ImageTokens.optional(),
      imageMaxTokens: ImageTokens.optional(),
      draftTokens: z
        .int("must be a whole number")
        .min(1, "must be at least 1")
        .max(16, "must be at most 16")
        .optional(),
      /** Machines that run `ingle worker` and hold layers of the models. */
      rpc: z
        .object({
          workers: z
            .array(WorkerAddressText)
            .min(1, "must name a worker")
            .max(workersMax, `must be at most ${workersMax} workers`),
          /** Of the key that was paired; absent is where `ingle worker --pair` puts it. */
          keyFile: PathOrName.optional(),
        })
        .optional(),
    }),
    /** Keys that use models. With a key of either kind, a request without one is a 401. */
    keyDigests: KeyDigests,
    /** Keys that manage models, too. */
    adminKeyDigests: KeyDigests,
    /** Files with more of them, read again when they change. */
    keyFile: PathOrName.optional(),
    adminKeyFile: PathOrName.optional(),
    /** Takes keys that are short enough to be guessed. */
    insecureShortKey: z.boolean("must be true or false").default(false),
    /** Says in words that anybody who reaches the address may use the server. */
    noAuth: z.boolean("must be true or false").default(false),
    /** Host names that requests may use beside loopback and the address they came to; `*` stands for any. */
    allowHosts: z.array(AllowedHost).default([]),
    /** Hosts whose images are fetched when a request names them by URL. */
    allowImageHosts: z.array(HostName).default([]),
    /** Origins of web pages and apps that may call the server, beside those that need no naming. */
    allowOrigins: z.array(AllowedOrigin).default([]),
    /** Addresses and networks of the proxies whose `X-Forwarded-…` headers are believed. */
    trustProxies: z
      .array(
        z
          .string()
          .refine(isAddressOrNetwork, "must be addresses or networks such as 127.0.0.1 or 10.0.0.0/8"),
      )
      .default([]),
    /** No page for people under `/`. */
    noUi: z.boolean("must be true or false").default(false),
    /** Paths of PEM files; without them the server speaks plain HTTP. */
    tls: z.object({ certFile: z.string(), keyFile: z.string() }).optional(),
    /** Requests a minute of one key or address; 0 is no limit. */
    rateLimit: z.int("must be a whole number").min(0, "must be at least 0").default(0),
    /** Whose names `/metrics` has beside ours. */
    metricsCompat: z.enum(["vllm"], 'must be "vllm"').optional(),
    /** Answers `/metrics` without a key where keys are configured: the scrapers of gateways send none. */
    metricsPublic: z.boolean("must be true or false").default(false),
    /** Publishes which blocks of tokens could be reused, for routers; absent is nowhere. */
    kvEvents: z
      .object({
        /** The PUB socket. */
        publish: ListenEndpoint,
        /** The ROUTER socket, for those who have missed something; absent is none. */
        replay: ListenEndpoint.optional(),
        /** The address by which routers know this server; absent is the one that it listens on. */
        pod: z.string().refine(isHostName, "must be an address or a host name").optional(),
      })
      .optional(),
    /** Where traces go; absent is nowhere. */
    tracing: TracingSettings.optional(),
    models: z.object({
      /** A model that nobody has asked for this long is freed until the next request; absent is never. */
      idleUnloadMs: duration({ minMs: idleUnloadMinMs }).optional(),
      onLoading: z.enum(["wait", "reject", "reject-at-start"], 'must be "wait" or "reject"'),
      /** Models in memory at the same time; absent is as many as fit. */
      loadedMax: z.int("must be a whole number").min(1, "must be at least 1").optional(),
      /** Memory for all loaded models together; 0 does not ask, absent is most of the machine's. */
      memoryBudgetMiB: z.int("must be a whole number").min(0, "must be at least 0").optional(),
      /** Ids of models that stay in memory once they are loaded. */
      pinned: z.array(z.string().min(1, "must not be empty")).default([]),
    }),
    limits: z
      .object({
        bodyBytesMax: z
          .int("must be a whole number")
          .min(1024, "must be at least 1024")
          .default(bodyBytesDefault),
        headersTimeoutMs: duration({ minMs: 100 }).prefault(headersTimeoutDefault),
        requestTimeoutMs: duration({ minMs: 100 }).prefault(requestTimeoutDefault),
        /** A client that takes nothing of a reply that is waiting for it is hung up on after this time. */
        stalledReaderTimeoutMs: duration({ minMs: 100 }).prefault(stalledReaderTimeoutDefault),
        drainDeadlineMs: duration({ minMs: 0 }).prefault(drainTimeoutDefault),
        /** Open at the same time; 0 is no limit. Loopback and trusted proxies, which stand for many, are not counted. */
        connectionsPerAddressMax: z
          .int("must be a whole number")
          .min(0, "must be at least 0")
          .default(connectionsPerAddressDefault),
      })
      .prefault({}),
  })
  .meta({ id: "ServerConfig" });
export type ServerConfig = z.infer<typeof ServerConfig>;

/** A setting that cannot be used. `setting` is the flag or environment variable it came from. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly setting: string;

  constructor(setting: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.setting = setting;
  }
}

/** Merges flags and environment over the variant's defaults. Throws ConfigError. */
export function resolveConfig(input: { flags: ServerFlags; env: NodeJS.ProcessEnv }): ServerConfig {
  const { values, sources } = readSettings(input);
  const name = VariantName.safeParse(values.variant ?? "desktop");
  if (!name.success) throw unusable(sources.variant, name.error.issues[0]);
  const variant = variants[name.data];
  refuseWeakKeys({ values, sources });
  const result = ServerConfig.safeParse({
    variant: name.data,
    host: values.host ?? variant.host,
    port: values.port ?? variant.port,
    model: values.model ?? variant.model,
    offline: values.offline,
    engine: {
      parallel: values.parallel,
      contextLength: values.ctx,
      threads: values.threads,
      kvBits: values.kvBits,
      kvBitsK: values.kvBitsK,
      kvBitsV: values.kvBitsV,
      cacheRamMiB: values.cacheRam,
      cacheDir: values.cacheDir,
      waitingMax: values.waitingMax,
      contextOverflow: values.contextOverflow,
      speculation: values.speculation,
      draftModel: values.draftModel,
      mmproj: values.mmproj,
      imageMinTokens: values.imageMinTokens,
      imageMaxTokens: values.imageMaxTokens,
      draftTokens: values.draftTokens,
      rpc: values.rpc === undefined ? undefined : { workers: values.rpc, keyFile: values.rpcKeyFile },
    },
    ...accessOf(values),
    noUi: values.noUi,
    tls: tlsFiles({ values, sources }),
    rateLimit: values.rateLimit ?? defaultRateLimit(values.host ?? variant.host),
    metricsCompat: values.metricsCompat,
    metricsPublic: values.metricsPublic,
    kvEvents: kvEventsOf({ values, sources }),
    tracing: tracingSettings(input.env, (variable, why) => {
      throw new ConfigError(variable, `${variable} ${why}.`);
    }),
    models: {
      idleUnloadMs: values.idleUnload,
      onLoading: values.onLoading ?? variant.onLoading,
      loadedMax: values.maxLoaded,
      memoryBudgetMiB: values.memoryBudget,
      pinned: values.pin,
    },
    limits: {
      bodyBytesMax: values.bodyBytesMax,
      headersTimeoutMs: values.headersTimeout,
      requestTimeoutMs: values.requestTimeout,
      stalledReaderTimeoutMs: values.stalledReaderTimeout,
      drainDeadlineMs: values.drainTimeout,
      connectionsPerAddressMax: values.connectionsPerAddress,
    },
  });
  if (!result.success) {
    const issue = result.error.issues[0];
    throw unusable(sourceOf(issue?.path ?? [], sources), issue);
  }
  refuseOpenHouse(result.data, sources.host ?? `The ${name.data} variant`);
  refuseEveryHost(result.data, sources.allowHost);
  return result.data;
}

/** Who may ask, and for what. */
function accessOf(values: Settings["values"]) {
  return {
    keyDigests: values.apiKey,
    adminKeyDigests: values.adminKey,
    keyFile: values.apiKeyFile,
    adminKeyFile: values.adminKeyFile,
    insecureShortKey: values.insecureShortKey,
    noAuth: values.noAuth,
    allowHosts: values.allowHost,
    allowImageHosts: values.allowImageHost,
    allowOrigins: values.allowOrigin,
    trustProxies: values.trustProxy,
  };
}

/** The settings whose names in the config differ from the flag's. */
const settingOfConfigKey: Readonly<Record<string, SettingName>> = {
  contextLength: "ctx",
  cacheRamMiB: "cacheRam",
  keyDigests: "apiKey",
  adminKeyDigests: "adminKey",
  keyFile: "apiKeyFile",
  adminKeyFile: "adminKeyFile",
  trustProxies: "trustProxy",
  connectionsPerAddressMax: "connectionsPerAddress",
  allowHosts: "allowHost",
  allowImageHosts: "allowImageHost",
  allowOrigins: "allowOrigin",
  idleUnloadMs: "idleUnload",
  loadedMax: "maxLoaded",
  memoryBudgetMiB: "memoryBudget",
  pinned: "pin",
  publish: "kvEvents",
  replay: "kvEventsReplay",
  pod: "kvEventsPod",
  headersTimeoutMs: "headersTimeout",
  requestTimeoutMs: "requestTimeout",
  stalledReaderTimeoutMs: "stalledReaderTimeout",
  drainDeadlineMs: "drainTimeout",
};

/** POD_IP alone publishes nothing: it is set by clusters. */
function kvEventsOf({ values, sources }: Settings): object | undefined {
  const { kvEvents: publish, kvEventsReplay: replay, kvEventsPod: pod } = values;
  if (publish !== undefined) return { publish, replay, pod };
  if (replay === undefined) return undefined;
  const source = sources.kvEventsReplay ?? "--kv-events-replay";
  throw new ConfigError(source, `${source} needs --kv-events beside it.`);
}

/** A certificate is of no use without its key, and the other way round. */
function tlsFiles({ values, sources }: Settings): { certFile: unknown; keyFile: unknown } | undefined {
  const { tlsCert: certFile, tlsKey: keyFile } = values;
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile };
  const [given, missing] =
    keyFile === undefined ? [sources.tlsCert, "--tls-key"] : [sources.tlsKey, "--tls-cert"];
  throw new ConfigError(given ?? missing, `${given} needs ${missing} beside it.`);
}

/** Before they become digests, of which nobody can tell how long the keys were. The keys are not repeated. */
function refuseWeakKeys({ values, sources }: Settings): void {
  for (const name of ["apiKey", "adminKey"] as const) {
    const keys = z.array(z.string()).safeParse(values[name]);
    for (const key of keys.success ? keys.data : []) {
      const why = whyNotTaken(key, { allowsShort: values.insecureShortKey === true });
      if (why !== undefined) throw unusable(sources[name], { message: why });
    }
  }
}

/** A flood from another machine is bounded from the start; programs of this machine are its user's own. */
function defaultRateLimit(host: unknown): number {
  return typeof host === "string" && isLoopback(host) ? 0 : rateLimitBeyondLoopback;
}

/** Who said what stands at this place of the config. */
function sourceOf(
  path: readonly PropertyKey[],
  sources: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const [first, second] = path;
  const isGroup = first === "engine" || first === "limits" || first === "models" || first === "kvEvents";
  const key = String(isGroup ? second : first);
  return sources[settingOfConfigKey[key] ?? key];
}

function unusable(source: string | undefined, issue: { message: string } | undefined): ConfigError {
  const setting = source ?? "configuration";
  return new ConfigError(setting, `${setting} ${issue?.message ?? "cannot be used"}.`);
}

/** Where the keys of a config are. */
export type KeyConfig = Pick<ServerConfig, "keyDigests" | "adminKeyDigests" | "keyFile" | "adminKeyFile">;

/** Whether a request without a key is refused. */
export function needsKey({ keyDigests, adminKeyDigests, keyFile, adminKeyFile }: KeyConfig): boolean {
  const isSaid = keyDigests.length + adminKeyDigests.length > 0;
  return isSaid || keyFile !== undefined || adminKeyFile !== undefined;
}

/** Whether other machines can reach a server on this host and use it without a key. */
export function isOpenToOthers({ host, hasKeys }: { host: string; hasKeys: boolean }): boolean {
  return !isLoopback(host) && !hasKeys;
}

/** An address that others can reach needs a key, or a person who says that it needs none. */
function refuseOpenHouse(config: ServerConfig, source: string): void {
  if (config.noAuth || !isOpenToOthers({ host: config.host, hasKeys: needsKey(config) })) return;
  throw new ConfigError(
    source,
    `${source} binds to ${config.host}, which other machines can reach, and no key is configured. ` +
      "Give a key with --api-key or INGLE_API_KEYS, or say --no-auth (INGLE_NO_AUTH=true) to serve everybody.",
  );
}

/**
 * A web page in its user's browser reaches a server on loopback by any name that resolves to it. Only the list of names stops
 * that.
 */
function refuseEveryHost({ host, allowHosts }: ServerConfig, source = "--allow-host"): void {
  if (!isLoopback(host) || !allowHosts.includes(everyHost)) return;
  throw new ConfigError(
    source,
    `${source} ${everyHost} would let every web page reach a server that listens on ${host}. Name the hosts instead.`,
  );
}
