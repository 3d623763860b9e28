// Reads the server's settings from flags and environment, and remembers where each came from, so that an error can
// name it. Used by config.ts.

/** What the command line has parsed; absent means not said. */
export interface ServerFlags {
  variant?: string | undefined;
  host?: string | undefined;
  port?: number | undefined;
  model?: string | undefined;
  parallel?: number | undefined;
  ctx?: number | undefined;
  threads?: number | undefined;
  waitingMax?: number | undefined;
  contextOverflow?: "length" | "shift" | undefined;
  speculation?: "off" | "ngram" | undefined;
  apiKey?: string[] | undefined;
  noAuth?: boolean | undefined;
  allowHost?: string[] | undefined;
  allowOrigin?: string[] | undefined;
  bodyBytesMax?: number | undefined;
  requestTimeoutMs?: number | undefined;
  drainDeadlineMs?: number | undefined;
}

export type SettingName = keyof ServerFlags;

type Reader = (text: string) => unknown;

const text: Reader = (value) => value;
/** Anything that is not a whole number stays a text, which the schema then refuses. */
const wholeNumber: Reader = (value) => (/^\d{1,15}$/.test(value) ? Number(value) : value);
const list: Reader = (value) =>
  value
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
const truth: Reader = (value) => {
  if (["1", "true", "yes"].includes(value.toLowerCase())) return true;
  return ["0", "false", "no"].includes(value.toLowerCase()) ? false : value;
};

/** Each setting with its environment variables, the first one first; names without INGLE_ are set by platforms. */
const table: readonly { name: SettingName; variables: readonly string[]; read: Reader }[] = [
  { name: "variant", variables: ["INGLE_VARIANT"], read: text },
  { name: "host", variables: ["INGLE_HOST", "HOST"], read: text },
  { name: "port", variables: ["INGLE_PORT", "PORT"], read: wholeNumber },
  { name: "model", variables: ["INGLE_MODEL", "MODEL_NAME"], read: text },
  { name: "parallel", variables: ["INGLE_PARALLEL"], read: wholeNumber },
  { name: "ctx", variables: ["INGLE_CTX"], read: wholeNumber },
  { name: "threads", variables: ["INGLE_THREADS"], read: wholeNumber },
  { name: "waitingMax", variables: ["INGLE_WAITING_MAX"], read: wholeNumber },
  { name: "contextOverflow", variables: ["INGLE_CONTEXT_OVERFLOW"], read: text },
  { name: "speculation", variables: ["INGLE_SPECULATION"], read: text },
  { name: "apiKey", variables: ["INGLE_API_KEYS"], read: list },
  { name: "noAuth", variables: ["INGLE_NO_AUTH"], read: truth },
  { name: "allowHost", variables: ["INGLE_ALLOW_HOSTS"], read: list },
  { name: "allowOrigin", variables: ["INGLE_ALLOW_ORIGINS"], read: list },
  { name: "bodyBytesMax", variables: ["INGLE_BODY_BYTES_MAX"], read: wholeNumber },
  { name: "requestTimeoutMs", variables: ["INGLE_REQUEST_TIMEOUT_MS"], read: wholeNumber },
  { name: "drainDeadlineMs", variables: ["INGLE_DRAIN_DEADLINE_MS"], read: wholeNumber },
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
  for (const { name, variables, read } of table) {
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
