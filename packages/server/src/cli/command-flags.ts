// The flags of every command but `serve` and `app`, whose flags are settings (../settings).
import { generationOptions } from "@ingle/generation-options";
import { ownSettings } from "../settings/own-settings.ts";
import { flagKinds, type Flag, type FlagsOf, type SettingsIn } from "../settings/setting.ts";
import { settings } from "../settings/settings.ts";

const { text, list, integer, decimal, time, toggle } = flagKinds();

/** The values of a list of flags, as a command gets them. */
export type FlagsIn<List extends readonly Flag[]> = FlagsOf<List[number]>;

const { contextLength, threads: threadsSetting, kvBits, kvBitsK, kvBitsV } = settings.engine;
const { contextOverflow, speculation, draftModel, draftTokens } = settings.engine;
const { chatTemplate, chatTemplateFile } = settings.engine;
const { temperature, maxTokens, noModelSampling, ...otherSampling } = settings.sampling;
const withoutVariant = {
  ...otherSampling.topK,
  defaultText: `the model's own, else ${generationOptions.topK.default}`,
};

/** Settings that are flags of `run` and `chat`, which read all others from the environment. */
export const loadingSettings = [
  settings.model,
  settings.offline,
  contextLength,
  threadsSetting,
  kvBits,
  kvBitsK,
  kvBitsV,
  contextOverflow,
  speculation,
  draftModel,
  draftTokens,
  chatTemplate,
  chatTemplateFile,
] as const;

export const samplingFlags = [
  text("--system <text>", "System message"),
  integer("--max-tokens <number>", "Maximum tokens to generate; as --predict", {
    defaultText: "to the end of the context",
  }),
  decimal("--temperature <number>", "Randomness; 0 is deterministic; as --temp", {
    defaultText: "the model's own, else 1",
  }),
  {
    ...temperature,
    help: "Another name for --temperature",
    defaultText: "as `--temperature`",
  },
  ...Object.values({ ...otherSampling, topK: withoutVariant }),
  { ...maxTokens, help: "Another name for --max-tokens", defaultText: "as `--max-tokens`" },
  { ...noModelSampling, help: "Ignore the sampling that the model's file recommends" },
] as const;
export type GenerationFlags = FlagsIn<typeof loadingSettings> & FlagsIn<typeof samplingFlags>;

export const mcpFlag = text("--mcp <file>", "File of MCP servers whose tools the model may call, or none", {
  variables: ["INGLE_MCP"],
  defaultText: "`mcp.json` in the config folder, if there is one",
  details: "See [tools](mcp.md).",
});
export type ChatFlags = GenerationFlags & FlagsOf<typeof mcpFlag>;

const json = toggle("--json", "Print JSON");
const exact = toggle(
  "--exact",
  "When converting from MLX, use 16 bits per weight where no quantization is exact",
);
const alias = text("--alias <name>", "Name of your own for the model");
/** A flag only: these commands do not read the server's variable. */
const offline = toggle("--offline", "Download nothing; the model must already be on this machine");
const threads = integer("--threads <number>", "CPU threads to compute with", {
  min: 1,
  defaultText: "one per performance core",
});
const force = toggle("--force", "Overwrite an existing file", {
  details: "The model itself is never overwritten.",
});

export const pullFlags = [
  text("--alias <name>", "Name of your own for the model, or of an adapter in requests"),
  text("--base <model>", "Installed model that the adapter is for", {
    defaultText: "the model that the adapter names",
    details: "See [adapters](adapters.md#adapters-of-the-hub).",
  }),
  exact,
  toggle("--offline", "Download nothing; only check whether the model is on this machine"),
] as const;

export const searchFlags = [
  integer("--limit <number>", "Maximum number of repositories to show", {
    min: 1,
    max: 99_999,
    defaultText: "20",
  }),
] as const;

export const listFlags = [
  {
    ...json,
    details:
      "An array of objects with `id`, `path`, `format`, `quantization` (or `null`), `size_bytes`, `loaded` (whether a server of " +
      "this user has it in memory), `aliases`, `adapters` (their names), `last_used` (an ISO date, or `null`), `context_length_train` (or `null`) and " +
      "`capabilities` (of `vision`, `tools`, `thinking` and `embeddings`).",
  },
] as const;

export const doctorFlags = [
  {
    ...json,
    details:
      "An object with `ingle`, `node`, `platform`, `arch`, `threads`, `memory_total_bytes`, `memory_free_bytes`, `engine` (`null` if it " +
      "is not built), `problem` (or `null`), `devices` (each with `name`, `type`, `backend`, `description`, `memory_total_bytes` and " +
      "`memory_free_bytes`), `models_folder`, `starter_model` and `models`: each with `id`, `summary`, `fits` and, unless it does not fit, " +
      "`context_length`, `kv_cells`, `layers` (by device, `host` for the processor), `cpu_moe_layers` (layers whose experts are on the " +
      "processor) and `memory_bytes` (by device, `host` for the machine's memory).",
  },
  toggle("--verify", "Compare the installed files with those of the registry instead", {
    details:
      "Downloads the packages of this version and prints which files differ; exits with 1 if any do. With `--json`, an array with " +
      "`package`, `version`, `folder`, `files` (how many), `changed`, `missing` and `added` (paths).",
  }),
] as const;

export const aliasFlags = [toggle("--remove", "Remove the name; its model stays")] as const;

export const importFlags = [
  text("--from <program>", "Take over the models of this program, or the one that is named", {
    choices: ["ollama", "lm-studio"],
  }),
  toggle("--copy", "Copy the files into the models folder"),
  alias,
  exact,
] as const;

export const pruneFlags = [
  integer("--unused-for <days>", "Also remove models that were not loaded for this many days", {
    min: 1,
    max: 99_999,
    details: "Imported models stay.",
  }),
  toggle("--dry-run", "Print what would be removed, and remove nothing"),
] as const;

export const keyFlags = [
  text("--scope <scope>", "What it may do: use models, or also load, download and remove them", {
    choices: ["inference", "management"],
    default: "inference",
  }),
  list(
    "--models <models>",
    "The only models that it sees and uses, separated by commas; * stands for any characters",
  ),
  integer("--tokens-per-minute <number>", "Tokens of prompts and replies that it may use within a minute", {
    min: 1,
  }),
  integer("--tokens-per-day <number>", "Tokens of prompts and replies that it may use within 24 hours", {
    min: 1,
  }),
  integer("--parallel-requests <number>", "Requests that it may have at a time", { min: 1 }),
  text("--priority <priority>", "Whose requests are served first", {
    choices: ["low", "normal", "high"],
    defaultText: "`normal`",
  }),
  text("--expires <when>", "Days until it expires, such as 30d, or a time, such as 2027-01-31", {
    defaultText: "never",
  }),
] as const;

export const quantizeFlags = [
  text("--to <level>", "Quantization to write, in upper or lower case; an unknown one lists them all", {
    defaultText: "`Q4_K_M`",
  }),
  text("--imatrix <file>", "Importance matrix of this model, from `ingle imatrix` or llama.cpp"),
  toggle("--allow-requantize", "Accept a model that is already quantized"),
  force,
  threads,
  offline,
] as const;

export const imatrixFlags = [
  text("--text <file>", "Text of the kind that the model will be used for", { isRequired: true }),
  text("-o, --output <file>", "File or folder to write to", {
    defaultText: "`my-model-f16.imatrix.gguf` beside the model",
  }),
  integer("--chunks <number>", "Maximum number of chunks of the text to read", {
    min: 1,
    defaultText: "the whole text",
  }),
  integer("--ctx <tokens>", "Tokens per chunk", { min: 1, defaultText: "512" }),
  force,
  threads,
  offline,
] as const;

export const remoteFlags = [
  text("--url <url>", "Address of the server", {
    variables: ["INGLE_URL"],
    defaultText: "a server of yours, else http://127.0.0.1:1337",
  }),
  text("--api-key <key>", "One of the server's keys", {
    variables: ["INGLE_ADMIN_KEYS", "INGLE_API_KEYS"],
    defaultText: "the token of a server of yours",
    details: "The first key of a variable is used.",
  }),
] as const;
export type RemoteFlags = FlagsIn<typeof remoteFlags>;

export const psFlags = [
  toggle("--all", "Also list models that could be loaded"),
  { ...json, details: "The entries are those of the [management API](http-api.md#managing-models)." },
  ...remoteFlags,
] as const;

/** The same flag without a default, which the running server decides. */
const ofServer = <F extends Flag>({
  flag,
  kind,
  help,
  hasOpposite,
}: F): Pick<F, "flag" | "kind" | "help"> & Flag => ({
  flag,
  kind,
  help,
  ...(hasOpposite === undefined ? {} : { hasOpposite }),
  defaultText: "the server's setting",
});

const ownFlags: readonly Flag[] = ownSettings.map(({ setting }) => ofServer(setting));

export const loadFlags = [
  ofServer(contextLength),
  ofServer(kvBits),
  ofServer(kvBitsK),
  ofServer(kvBitsV),
  ofServer(chatTemplate),
  ofServer(chatTemplateFile),
  ...Object.values({ temperature, ...otherSampling, maxTokens }).map(ofServer),
  ...ownFlags,
  ...remoteFlags,
] as const;

export const workerSettings = {
  host: text("--host <address>", "Address to listen on", {
    rule: (rules) => rules.host,
    defaultText: "all addresses",
  }),
  port: integer("--port <number>", "Port to listen on; 0 picks any free port", {
    max: 65_535,
    defaultText: "50052",
  }),
  devices: list("--device <names>", "Devices to offer, separated by commas; `ingle doctor` lists them", {
    defaultText: "the GPUs, or the CPU without one",
  }),
  memoryMiB: integer("--memory <MiB>", "Maximum memory to offer on each device", {
    min: 1,
    defaultText: "most of what is free",
  }),
  // ggml's limit.
  threads: integer("--threads <number>", "CPU threads to compute with", {
    min: 1,
    max: 512,
    defaultText: "one per performance core",
  }),
  keyFile: text("--key-file <file>", "Where the key is kept", {
    variables: ["INGLE_RPC_KEY_FILE"],
    defaultText: "`worker.key` in the config folder",
    details: "Only its owner should be able to read it.",
  }),
};

export const pairFlag = text(
  "--pair [key]",
  "Create the key that both machines share, or save the key of the other machine",
  {
    details:
      "Without a key: creates one if there is none, prints it, and continues as a worker. With a key: saves it and exits; `-` " +
      "reads it from stdin, which keeps it out of the shell's history.",
  },
);
export type WorkerFlags = FlagsOf<SettingsIn<typeof workerSettings> | typeof pairFlag>;

/** Flags that set a variable for deploy.py, which has the defaults. */
const modal = flagKinds("INGLE_MODAL_");

export const timeoutFlag = time(
  "--timeout <time>",
  "How long to wait for the first container after the deployment",
  { default: "20m" },
);

export const modalFlags = [
  modal.text("--model <model>", "Model to serve: org/repo or org/repo:QUANT on the hub", {
    variables: ["MODEL_NAME"],
    defaultText: "`LiquidAI/LFM2-8B-A1B`",
  }),
  modal.text("--name <name>", "Name of the app on Modal; each model needs its own", {
    defaultText: "`ingle`",
  }),
  modal.text("--gpu <type>", "GPU type and count: L4, L40S, H100, H100:2", { defaultText: "`L40S`" }),
  modal.text("--form <form>", "Modal's kind of web endpoint; server is the faster one", {
    choices: ["server", "web_server"],
    defaultText: "`server`",
    details: "`server` is `@app.server`, `web_server` is `@modal.web_server`.",
  }),
  modal.text("--region <region>", "Region that routes requests (form server): us-east, us-west, …", {
    defaultText: "`us-east`",
  }),
  modal.integer("--min-containers <number>", "Containers to keep running without requests", {
    min: 0,
    defaultText: "0",
  }),
  modal.integer("--max-containers <number>", "Maximum number of containers; 0 disables the limit", {
    min: 0,
    defaultText: "0",
  }),
  modal.integer("--buffer-containers <number>", "Idle containers to keep beside the busy ones", {
    min: 0,
    defaultText: "0",
  }),
  modal.integer("--target-concurrency <number>", "Requests per container above which another one starts", {
    min: 0,
    defaultText: "8",
  }),
  modal.integer("--max-concurrency <number>", "Maximum number of requests per container (form web_server)", {
    min: 0,
    defaultText: "32",
  }),
  modal.time("--startup-timeout <time>", "How long a container may take to start, 10m for example", {
    defaultText: "10m",
    details: "The variable is in seconds.",
  }),
  modal.time("--scaledown-window <time>", "How long a container stays up without requests", {
    defaultText: "5m",
    details: "The variable is in seconds.",
  }),
  modal.toggle("--snapshot", "Start containers from a snapshot of memory and GPU (form server)"),
  modal.toggle("--public", "Require no proxy token: anyone who knows the address may send requests"),
  modal.text("--api-key <key>", "Also require this key with each request", {
    variables: ["INGLE_API_KEYS"],
  }),
  modal.text(
    "--image <reference>",
    "Container image that contains Ingle, instead of one that Modal builds from the sources",
    { details: "[deploy/docker](deployment.md#containers) builds one." },
  ),
  modal.text("--source <folder>", "Checkout of Ingle to build the image from", {
    defaultText: "the checkout that runs this command",
    details: "An installed package has none: use this flag or `--image`.",
  }),
  timeoutFlag,
] as const;

/** `ingle service logs`. */
export const logFlags = [
  {
    flag: "-n, --lines <number>",
    kind: "integer",
    min: 0,
    default: 100,
    help: "Latest lines to print",
  },
  { flag: "-f, --follow", kind: "toggle", help: "Print new lines as they are written, until Ctrl-C" },
  { flag: "--json", kind: "toggle", help: "Print the lines as they are in the log, which is JSON" },
] as const satisfies readonly Flag[];

export type LogFlags = FlagsOf<(typeof logFlags)[number]>;

/** Those that `ingle completion` knows. */
export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

export const upgradeFlags = [
  { flag: "--check", kind: "toggle", help: "Ask the npm registry for the newest version" },
] as const satisfies readonly Flag[];
export type UpgradeFlags = FlagsOf<(typeof upgradeFlags)[number]>;
