// Settings of the engine that each model is loaded into, and of the models in memory together.
import { deviceBounds } from "@ingle/engine/device-bounds";
import { flagKinds } from "./setting.ts";

const { text, list, integer, time } = flagKinds("INGLE_");

export const engineSettings = {
  engine: text("--engine <place>", "Where engines run: each in its own process, or all in the server's", {
    choices: ["process", "in-process"],
    default: "process",
    details: "See [when an engine crashes](operations.md#when-an-engine-crashes).",
  }),
  stepTimeoutMs: time(
    "--step-timeout <time>",
    "How long an engine may take for one step before its process is restarted",
    {
      isVariableOnly: true,
      min: 100,
      max: 86_400_000,
      // Far longer than a batch of the largest model takes on a slow processor.
      default: "10m",
    },
  ),
  parallel: integer("--parallel <number>", "Maximum number of requests computed at the same time", {
    min: 1,
    defaultText: "8",
  }),
  contextLength: integer(
    "--ctx <tokens>",
    "Context length: maximum tokens of one request, prompt and reply together",
    {
      min: 16,
      defaultText: "the model's own as far as [memory](operations.md#memory) allows, 8,192 by default",
    },
  ),
  threads: integer("--threads <number>", "CPU threads to compute with", {
    ...deviceBounds.threads,
    defaultText: "one per performance core",
  }),
  kvBits: integer(
    "--kv-bits <bits>",
    "Bits per value of the KV cache: 16, 8, 4 or 3; fewer take less memory",
    { rule: (rules) => rules.kvBits, defaultText: "16", details: "See [the KV cache](kv-cache.md)." },
  ),
  kvBitsK: integer("--kv-bits-k <bits>", "As --kv-bits, for keys only", {
    rule: (rules) => rules.kvBits,
    defaultText: "as `--kv-bits`",
  }),
  kvBitsV: integer("--kv-bits-v <bits>", "As --kv-bits, for values only", {
    rule: (rules) => rules.kvBits,
    defaultText: "as `--kv-bits`",
  }),
  cacheRamMiB: integer(
    "--cache-ram <MiB>",
    "Host memory for conversations evicted from the KV cache; 0 disables it",
    {
      defaultText: "an eighth of the memory, at most 2,048",
      details:
        "When such a conversation continues, its state is copied back instead of being computed again.",
    },
  ),
  cacheDir: text("--cache-dir <folder>", "Keep that state in this folder across restarts", {
    details:
      "It is written when the model is unloaded or the server stops, and read when the same model is loaded again by the " +
      "same build. It takes as much disk as `--cache-ram` has, and holds conversations: only its owner may read it.",
  }),
  slotDir: text("--slot-save-path <folder>", "Let clients save the state of slots to files in this folder", {
    details:
      "For [`POST /slots/{id}`](llama-server.md#slots) of llama-server's API. The files hold conversations: only their owner may " +
      "read them. At most 1,000, each of at most what `--cache-ram` has.",
  }),
  waitingMax: integer(
    "--waiting-max <number>",
    "Maximum number of waiting requests; further ones are refused with a 429",
    {
      // Minutes of work on one machine, not hours.
      default: 256,
    },
  ),
  contextOverflow: text(
    "--context-overflow <mode>",
    "What a chat does at the end of its context: stop, or drop its oldest turns",
    { choices: ["length", "shift"], default: "length", details: "See [long chats](#long-chats)." },
  ),
};

export const speculationSettings = {
  speculation: text(
    "--speculation <mode>",
    "Draft tokens: from earlier text, or with the model's own layers",
    {
      choices: ["off", "ngram", "mtp"],
      defaultText: "mtp if the model's file has such layers, otherwise off",
      details: "See [speculation](#speculation).",
    },
  ),
  draftModel: text("--draft-model <model>", "Smaller model, or speculator, that drafts tokens for this one"),
  draftTokens: integer("--draft-tokens <number>", "Maximum tokens that it drafts at a time, up to 16", {
    min: 1,
    max: 16,
    defaultText: "4, or what its blocks have",
  }),
};

export const adapterSettings = {
  adapters: list(
    "--lora-modules <name=file...>",
    "LoRA adapters and control vectors that requests may use, each with a name",
    {
      rule: (rules) => rules.loraModules,
      details: "See [adapters](adapters.md).",
    },
  ),
  controlVectorLayers: text(
    "--control-vector-layer-range <range>",
    "Layers that control vectors change, 10-31 for example",
    {
      rule: (rules) => rules.layerRange,
      defaultText: "those that their files name",
      details: "See [control vectors](adapters.md#control-vectors).",
    },
  ),
};

/** More tokens than any projector makes of an image, or of a tile of one. */
const imageTokensMax = 16_384;

export const imageSettings = {
  mmproj: text("--mmproj <file>", "Projector (mmproj-….gguf) with which the model reads images", {
    defaultText: "the one installed with the model",
    details: "See [images](http-api.md#images).",
  }),
  imageMinTokens: integer("--image-min-tokens <number>", "Minimum tokens of an image, or of a tile of one", {
    min: 1,
    max: imageTokensMax,
    defaultText: "the projector's own",
    details: "See [what an image costs](vision.md#what-an-image-costs).",
  }),
  imageMaxTokens: integer("--image-max-tokens <number>", "Maximum tokens of an image, or of a tile of one", {
    min: 1,
    max: imageTokensMax,
    defaultText: "the projector's own",
  }),
};

export const rpcSettings = {
  rpc: {
    workers: list("--rpc <addresses>", "Workers that hold layers of the model, as host:port,host:port", {
      rule: (rules) => rules.workers,
      opensGroup: true,
      details:
        "See [one model over several hosts](deployment.md#one-model-over-several-hosts). The default port is 50052.",
    }),
    keyFile: text("--rpc-key-file <file>", "Key shared with the workers", {
      defaultText: "`worker.key` in the config folder",
    }),
  },
};

export const memorySettings = {
  idleUnloadMs: time(
    "--idle-unload <time>",
    "Unload a model after this long without a request, 10m for example",
    {
      // A model that is loaded again for every other request would do nothing else.
      min: 1_000,
      defaultText: "never",
      details: "The next request [loads it again](operations.md#an-idle-model).",
    },
  ),
  onLoading: text(
    "--on-loading <mode>",
    "Whether requests for a model that is not in memory wait, or are refused with a 503",
    { choices: ["wait", "reject"], rule: (rules) => rules.onLoading, isPerVariant: true },
  ),
  loadedMax: integer("--max-loaded <number>", "Maximum number of models in memory", {
    min: 1,
    defaultText: "as many as fit",
  }),
  memoryBudgetMiB: integer(
    "--memory-budget <MiB>",
    "Memory for all loaded models together; 0 disables the limit",
    {
      defaultText: "nine tenths of the machine's memory, and what is free on its GPUs",
      details: "See [memory](operations.md#memory).",
    },
  ),
  pinned: list("--pin <id...>", "Models that are never unloaded once they are loaded"),
};

export const limitSettings = {
  drainDeadlineMs: time(
    "--drain-timeout <time>",
    "How long running requests may continue after a stop, 30s for example",
    { default: "30s" },
  ),
  connectionsPerAddressMax: integer(
    "--connections-per-address <number>",
    "Maximum number of open connections from one address; 0 disables the limit",
    {
      // A browser keeps six, an office behind one address has dozens, a flood thousands.
      default: 256,
      details: "An IPv6 network (/64) counts as one address. Loopback and trusted proxies are not counted.",
    },
  ),
  bodyBytesMax: integer("--body-bytes-max <bytes>", "Largest request body", {
    isVariableOnly: true,
    min: 1024,
    // Text is far smaller; several inline images are not.
    default: 32 * 1024 * 1024,
  }),
  headersTimeoutMs: time(
    "--headers-timeout <time>",
    "Time within which a request's headers must have arrived",
    {
      isVariableOnly: true,
      min: 100,
      // A request's head is a few kilobytes: any uplink has sent it by then.
      default: "20s",
    },
  ),
  requestTimeoutMs: time("--request-timeout <time>", "Time within which a whole request must have arrived", {
    isVariableOnly: true,
    min: 100,
    // A slow uplink with images passes; a socket that is held open does not.
    default: "5m",
  }),
  stalledReaderTimeoutMs: time(
    "--stalled-reader-timeout <time>",
    "How long a client may stop reading a reply before it is disconnected",
    {
      isVariableOnly: true,
      min: 100,
      // A phone in a tunnel comes back within this time.
      default: "60s",
    },
  ),
};
