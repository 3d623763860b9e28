// Settings of the engine that each model is loaded into, and of the models in memory together.
import type { SettingTable } from "./setting.ts";

export const engineSettings = {
  parallel: {
    flag: "--parallel <number>",
    variables: ["INGLE_PARALLEL"],
    kind: "integer",
    min: 1,
    defaultText: "8",
    help: "Requests computed at the same time",
  },
  contextLength: {
    flag: "--ctx <tokens>",
    variables: ["INGLE_CTX"],
    kind: "integer",
    min: 16,
    defaultText: "the model's own, at most 8,192, and less where [memory](operations.md#memory) is short",
    help: "Context length: most tokens of one request, prompt and reply together",
  },
  threads: {
    flag: "--threads <number>",
    variables: ["INGLE_THREADS"],
    kind: "integer",
    min: 1,
    defaultText: "one per core",
    help: "CPU threads to compute with",
  },
  kvBits: {
    flag: "--kv-bits <bits>",
    variables: ["INGLE_KV_BITS"],
    kind: "integer",
    rule: (rules) => rules.kvBits,
    defaultText: "16",
    help: "Bits per value of the KV cache: 16, 8, 4 or 3; fewer take less memory",
    details: "See [the KV cache](kv-cache.md).",
  },
  kvBitsK: {
    flag: "--kv-bits-k <bits>",
    variables: ["INGLE_KV_BITS_K"],
    kind: "integer",
    rule: (rules) => rules.kvBits,
    defaultText: "as `--kv-bits`",
    help: "The same for keys alone",
  },
  kvBitsV: {
    flag: "--kv-bits-v <bits>",
    variables: ["INGLE_KV_BITS_V"],
    kind: "integer",
    rule: (rules) => rules.kvBits,
    defaultText: "as `--kv-bits`",
    help: "The same for values alone",
  },
  cacheRamMiB: {
    flag: "--cache-ram <MiB>",
    variables: ["INGLE_CACHE_RAM"],
    kind: "integer",
    defaultText: "an eighth of the memory, at most 2,048",
    help: "Host memory for conversations evicted from the KV cache; 0 disables it",
    details: "When such a conversation continues, its state is copied back instead of being computed again.",
  },
  cacheDir: {
    flag: "--cache-dir <folder>",
    variables: ["INGLE_CACHE_DIR"],
    kind: "text",
    help: "Keep that state in this folder across restarts",
    details:
      "It is written when the model is unloaded or the server stops, and read when the same model is loaded again by the " +
      "same build. It takes as much disk as `--cache-ram` has, and holds conversations: only its owner may read it.",
  },
  waitingMax: {
    flag: "--waiting-max <number>",
    variables: ["INGLE_WAITING_MAX"],
    kind: "integer",
    // Minutes of work on one machine, not hours.
    default: 256,
    help: "Requests that may wait in the queue; one more is refused with a 429",
  },
  contextOverflow: {
    flag: "--context-overflow <mode>",
    variables: ["INGLE_CONTEXT_OVERFLOW"],
    kind: "text",
    choices: ["length", "shift"],
    default: "length",
    help: "What a chat does at the end of its context: stop, or drop its oldest turns",
    details: "See [long chats](#long-chats).",
  },
} as const satisfies SettingTable;

export const speculationSettings = {
  speculation: {
    flag: "--speculation <mode>",
    variables: ["INGLE_SPECULATION"],
    kind: "text",
    choices: ["off", "ngram"],
    default: "off",
    help: "Draft tokens from earlier text; faster where text repeats",
    details: "See [speculation](#speculation).",
  },
  draftModel: {
    flag: "--draft-model <file>",
    variables: ["INGLE_DRAFT_MODEL"],
    kind: "text",
    help: "Smaller model that drafts tokens for this one",
  },
  draftTokens: {
    flag: "--draft-tokens <number>",
    variables: ["INGLE_DRAFT_TOKENS"],
    kind: "integer",
    min: 1,
    max: 16,
    defaultText: "4",
    help: "Most tokens that it drafts at a time, up to 16",
  },
} as const satisfies SettingTable;

/** Tokens of an image, or of a tile of one: more than any projector makes. */
const imageTokensMax = 16_384;

export const imageSettings = {
  mmproj: {
    flag: "--mmproj <file>",
    variables: ["INGLE_MMPROJ"],
    kind: "text",
    defaultText: "the one installed with the model",
    help: "Projector (mmproj-….gguf) with which the model reads images",
    details: "See [images](http-api.md#images).",
  },
  imageMinTokens: {
    flag: "--image-min-tokens <number>",
    variables: ["INGLE_IMAGE_MIN_TOKENS"],
    kind: "integer",
    min: 1,
    max: imageTokensMax,
    defaultText: "the projector's own",
    help: "Fewest tokens of an image, or of a tile of one",
    details: "See [what an image costs](vision.md#what-an-image-costs).",
  },
  imageMaxTokens: {
    flag: "--image-max-tokens <number>",
    variables: ["INGLE_IMAGE_MAX_TOKENS"],
    kind: "integer",
    min: 1,
    max: imageTokensMax,
    defaultText: "the projector's own",
    help: "Most tokens of an image, or of a tile of one",
  },
} as const satisfies SettingTable;

export const rpcSettings = {
  rpc: {
    workers: {
      flag: "--rpc <addresses>",
      variables: ["INGLE_RPC"],
      kind: "list",
      rule: (rules) => rules.workers,
      opensGroup: true,
      help: "Workers that hold layers of the model, as host:port,host:port",
      details:
        "See [one model over several hosts](deployment.md#one-model-over-several-hosts). The default port is 50052.",
    },
    keyFile: {
      flag: "--rpc-key-file <file>",
      variables: ["INGLE_RPC_KEY_FILE"],
      kind: "text",
      defaultText: "`worker.key` in the config folder",
      help: "Key shared with the workers",
    },
  },
} as const satisfies SettingTable;

export const memorySettings = {
  idleUnloadMs: {
    flag: "--idle-unload <time>",
    variables: ["INGLE_IDLE_UNLOAD"],
    kind: "time",
    // A model that is loaded again for every other request would do nothing else.
    min: 1_000,
    defaultText: "never",
    help: "Unload a model after this long without a request, 10m for example",
    details: "The next request [loads it again](operations.md#an-idle-model).",
  },
  onLoading: {
    flag: "--on-loading <mode>",
    variables: ["INGLE_ON_LOADING"],
    kind: "text",
    choices: ["wait", "reject"],
    rule: (rules) => rules.onLoading,
    isPerVariant: true,
    help: "Whether requests for a model that is not in memory wait, or are refused with a 503",
  },
  loadedMax: {
    flag: "--max-loaded <number>",
    variables: ["INGLE_MAX_LOADED"],
    kind: "integer",
    min: 1,
    defaultText: "as many as fit",
    help: "Most models in memory at the same time",
  },
  memoryBudgetMiB: {
    flag: "--memory-budget <MiB>",
    variables: ["INGLE_MEMORY_BUDGET"],
    kind: "integer",
    defaultText: "nine tenths of the machine's memory, and what is free on its GPUs",
    help: "Memory for all loaded models together; 0 disables the limit",
    details: "See [memory](operations.md#memory).",
  },
  pinned: {
    flag: "--pin <id...>",
    variables: ["INGLE_PIN"],
    kind: "list",
    help: "Models that are never unloaded once they are loaded",
  },
} as const satisfies SettingTable;

export const limitSettings = {
  drainDeadlineMs: {
    flag: "--drain-timeout <time>",
    variables: ["INGLE_DRAIN_TIMEOUT"],
    kind: "time",
    default: "30s",
    help: "How long running requests may continue after a stop, 30s for example",
  },
  connectionsPerAddressMax: {
    flag: "--connections-per-address <number>",
    variables: ["INGLE_CONNECTIONS_PER_ADDRESS"],
    kind: "integer",
    // A browser keeps six, an office behind one address has dozens, a flood thousands.
    default: 256,
    help: "Most open connections of one address; 0 disables the limit",
    details: "An IPv6 network (/64) counts as one address. Loopback and trusted proxies are not counted.",
  },
  bodyBytesMax: {
    flag: "--body-bytes-max <bytes>",
    variables: ["INGLE_BODY_BYTES_MAX"],
    isVariableOnly: true,
    kind: "integer",
    min: 1024,
    // Text is far smaller; several inline images are not.
    default: 32 * 1024 * 1024,
    help: "Largest request body",
  },
  headersTimeoutMs: {
    flag: "--headers-timeout <time>",
    variables: ["INGLE_HEADERS_TIMEOUT"],
    isVariableOnly: true,
    kind: "time",
    min: 100,
    // A request's head is a few kilobytes: any uplink has sent it by then.
    default: "20s",
    help: "Time within which a request's headers must have arrived",
  },
  requestTimeoutMs: {
    flag: "--request-timeout <time>",
    variables: ["INGLE_REQUEST_TIMEOUT"],
    isVariableOnly: true,
    kind: "time",
    min: 100,
    // A slow uplink with images passes; a socket that is held open does not.
    default: "5m",
    help: "Time within which a whole request must have arrived",
  },
  stalledReaderTimeoutMs: {
    flag: "--stalled-reader-timeout <time>",
    variables: ["INGLE_STALLED_READER_TIMEOUT"],
    isVariableOnly: true,
    kind: "time",
    min: 100,
    // A phone in a tunnel comes back within this time.
    default: "60s",
    help: "How long a client may read nothing of a reply before it is disconnected",
  },
} as const satisfies SettingTable;
