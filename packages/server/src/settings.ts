// Reads the server's settings from flags and environment, and remembers where each came from, so that an error can
// name it. Used by config.ts.

/** What the command line has parsed; absent means not said. */
export interface ServerFlags {
  variant?: string | undefined;
  host?: string | undefined;
  port?: number | undefined;
  model?: string | undefined;
  offline?: boolean | undefined;
  parallel?: number | undefined;
  ctx?: number | undefined;
  threads?: number | undefined;
  kvBits?: number | undefined;
  kvBitsK?: number | undefined;
  kvBitsV?: number | undefined;
  cacheRam?: number | undefined;
  cacheDir?: string | undefined;
  waitingMax?: number | undefined;
  contextOverflow?: "length" | "shift" | undefined;
  speculation?: "off" | "ngram" | undefined;
  draftModel?: string | undefined;
  mmproj?: string | undefined;
  imageMinTokens?: number | undefined;
  imageMaxTokens?: number | undefined;
  draftTokens?: number | undefined;
  rpc?: string[] | undefined;
  rpcKeyFile?: string | undefined;
  apiKey?: string[] | undefined;
  adminKey?: string[] | undefined;
  apiKeyFile?: string | undefined;
  adminKeyFile?: string | undefined;
  insecureShortKey?: boolean | undefined;
  noAuth?: boolean | undefined;
  allowHost?: string[] | undefined;
  allowImageHost?: string[] | undefined;
  allowOrigin?: string[] | undefined;
  trustProxy?: string[] | undefined;
  noUi?: boolean | undefined;
  tlsCert?: string | undefined;
  tlsKey?: string | undefined;
  rateLimit?: number | undefined;
  connectionsPerAddress?: number | undefined;
  metricsCompat?: string | undefined;
  metricsPublic?: boolean | undefined;
  kvEvents?: string | undefined;
  kvEventsReplay?: string | undefined;
  kvEventsPod?: string | undefined;
  /** Times are texts such as `30s`: see duration.ts. */
  idleUnload?: string | undefined;
  onLoading?: "wait" | "reject" | undefined;
  maxLoaded?: number | undefined;
  memoryBudget?: number | undefined;
  pin?: string[] | undefined;
  drainTimeout?: string | undefined;
  headersTimeout?: string | undefined;
  requestTimeout?: string | undefined;
  stalledReaderTimeout?: string | undefined;
  bodyBytesMax?: number | undefined;
}

export type SettingName = keyof ServerFlags;

type Reader = (text: string) => unknown;

const text: Reader = (value) => value;
/** Anything that is not a whole number stays a text, which the schema then refuses. */
export const wholeNumber: Reader = (value) => (/^\d{1,15}$/.test(value) ? Number(value) : value);
/** Entries with commas between them; empty ones are left out. */
export const list = (value: string): string[] =>
  value
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
/** The words that the Hugging Face tools take for their variables, too. */
export const truth: Reader = (value) => {
  if (["1", "true", "yes", "on"].includes(value.toLowerCase())) return true;
  return ["0", "false", "no", "off"].includes(value.toLowerCase()) ? false : value;
};

/**
 * Each setting with its environment variables, the first one first; names without INGLE_ are set by platforms. A test
 * compares it with docs/cli.md.
 */
export const settingsTable: readonly { name: SettingName; variables: readonly string[]; read: Reader }[] = [
  { name: "variant", variables: ["INGLE_VARIANT"], read: text },
  { name: "host", variables: ["INGLE_HOST", "HOST"], read: text },
  { name: "port", variables: ["INGLE_PORT", "PORT"], read: wholeNumber },
  { name: "model", variables: ["INGLE_MODEL", "MODEL_NAME"], read: text },
  { name: "offline", variables: ["INGLE_OFFLINE", "HF_HUB_OFFLINE"], read: truth },
  { name: "parallel", variables: ["INGLE_PARALLEL"], read: wholeNumber },
  { name: "ctx", variables: ["INGLE_CTX"], read: wholeNumber },
  { name: "threads", variables: ["INGLE_THREADS"], read: wholeNumber },
  { name: "kvBits", variables: ["INGLE_KV_BITS"], read: wholeNumber },
  { name: "kvBitsK", variables: ["INGLE_KV_BITS_K"], read: wholeNumber },
  { name: "kvBitsV", variables: ["INGLE_KV_BITS_V"], read: wholeNumber },
  { name: "cacheRam", variables: ["INGLE_CACHE_RAM"], read: wholeNumber },
  { name: "cacheDir", variables: ["INGLE_CACHE_DIR"], read: text },
  { name: "waitingMax", variables: ["INGLE_WAITING_MAX"], read: wholeNumber },
  { name: "contextOverflow", variables: ["INGLE_CONTEXT_OVERFLOW"], read: text },
  { name: "speculation", variables: ["INGLE_SPECULATION"], read: text },
  { name: "mmproj", variables: ["INGLE_MMPROJ"], read: text },
  { name: "imageMinTokens", variables: ["INGLE_IMAGE_MIN_TOKENS"], read: wholeNumber },
  { name: "imageMaxTokens", variables: ["INGLE_IMAGE_MAX_TOKENS"], read: wholeNumber },
  { name: "draftModel", variables: ["INGLE_DRAFT_MODEL"], read: text },
  { name: "draftTokens", variables: ["INGLE_DRAFT_TOKENS"], read: wholeNumber },
  { name: "rpc", variables: ["INGLE_RPC"], read: list },
  { name: "rpcKeyFile", variables: ["INGLE_RPC_KEY_FILE"], read: text },
  { name: "apiKey", variables: ["INGLE_API_KEYS"], read: list },
  { name: "adminKey", variables: ["INGLE_ADMIN_KEYS"], read: list },
  { name: "apiKeyFile", variables: ["INGLE_API_KEY_FILE"], read: text },
  { name: "adminKeyFile", variables: ["INGLE_ADMIN_KEY_FILE"], read: text },
  { name: "insecureShortKey", variables: ["INGLE_INSECURE_SHORT_KEY"], read: truth },
  { name: "noAuth", variables: ["INGLE_NO_AUTH"], read: truth },
  { name: "allowHost", variables: ["INGLE_ALLOW_HOSTS"], read: list },
  { name: "allowImageHost", variables: ["INGLE_ALLOW_IMAGE_HOSTS"], read: list },
  { name: "allowOrigin", variables: ["INGLE_ALLOW_ORIGINS"], read: list },
  { name: "trustProxy", variables: ["INGLE_TRUST_PROXIES"], read: list },
  { name: "noUi", variables: ["INGLE_NO_UI"], read: truth },
  { name: "tlsCert", variables: ["INGLE_TLS_CERT"], read: text },
  { name: "tlsKey", variables: ["INGLE_TLS_KEY"], read: text },
  { name: "rateLimit", variables: ["INGLE_RATE_LIMIT"], read: wholeNumber },
  { name: "connectionsPerAddress", variables: ["INGLE_CONNECTIONS_PER_ADDRESS"], read: wholeNumber },
  { name: "metricsCompat", variables: ["INGLE_METRICS_COMPAT"], read: text },
  { name: "metricsPublic", variables: ["INGLE_METRICS_PUBLIC"], read: truth },
  { name: "kvEvents", variables: ["INGLE_KV_EVENTS"], read: text },
  { name: "kvEventsReplay", variables: ["INGLE_KV_EVENTS_REPLAY"], read: text },
  { name: "kvEventsPod", variables: ["INGLE_KV_EVENTS_POD", "POD_IP"], read: text },
  { name: "idleUnload", variables: ["INGLE_IDLE_UNLOAD"], read: text },
  { name: "onLoading", variables: ["INGLE_ON_LOADING"], read: text },
  { name: "maxLoaded", variables: ["INGLE_MAX_LOADED"], read: wholeNumber },
  { name: "memoryBudget", variables: ["INGLE_MEMORY_BUDGET"], read: wholeNumber },
  { name: "pin", variables: ["INGLE_PIN"], read: list },
  { name: "drainTimeout", variables: ["INGLE_DRAIN_TIMEOUT"], read: text },
  { name: "headersTimeout", variables: ["INGLE_HEADERS_TIMEOUT"], read: text },
  { name: "requestTimeout", variables: ["INGLE_REQUEST_TIMEOUT"], read: text },
  { name: "stalledReaderTimeout", variables: ["INGLE_STALLED_READER_TIMEOUT"], read: text },
  { name: "bodyBytesMax", variables: ["INGLE_BODY_BYTES_MAX"], read: wholeNumber },
];

export interface Settings {
  /** Not checked yet: what was said, by setting. */
  values: Partial<Record<SettingName, unknown>>;
  /** `--port` or `PORT`: who said it. */
  sources: Partial<Record<SettingName, string>>;
}

/** Flags win over the environment. */
export function readSettings(input: { flags: ServerFlags; env: NodeJS.ProcessEnv }): Settings {
  const settings: Settings = { values: {}, sources: {} };
  for (const { name, variables, read } of settingsTable) {
    const flag = input.flags[name];
    if (flag !== undefined) {
      settings.values[name] = flag;
      settings.sources[name] = flagName(name);
      continue;
    }
    // Compose files and shells set variables to nothing when they mean "not set".
    const variable = variables.find((candidate) => (input.env[candidate] ?? "") !== "");
    if (variable === undefined) continue;
    settings.values[name] = read(input.env[variable] ?? "");
    settings.sources[name] = variable;
  }
  return settings;
}

/** `allowHost` is `--allow-host` on the command line. */
function flagName(setting: SettingName): string {
  return `--${setting.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
