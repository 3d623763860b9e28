// The commands and their flags. What a command does is loaded when it runs, so that help and version are printed at once.
import { Command } from "commander";
import { appSettings } from "../settings/app-settings.ts";
import { settingsIn, type FlagsOf, type SettingsIn } from "../settings/setting.ts";
import { settings, settingSections, type ServerFlags } from "../settings/settings.ts";
import { ingleVersion } from "../version.ts";
import type { CommandContext, OnExit } from "./context.ts";
import { addDeployCommands } from "./deploy/deploy-commands.ts";
import { addFlags, addSettings, FlagOption, helpOf } from "./flags.ts";
import { loadingSettings, samplingFlags, type GenerationFlags } from "./generate/generation-flags.ts";
import { addLibraryCommands } from "./library/library-commands.ts";
import { addQuantizeCommands } from "./quantize/quantize-commands.ts";
import { addRemoteCommands } from "./remote/remote-commands.ts";
import { pairFlag, workerSettings, type WorkerFlags } from "./worker-settings.ts";

/** `ingle`. */
export function ingleProgram(context: CommandContext, onExit: OnExit): Command {
  const program = baseProgram("ingle", context).description("Run language models on your own machine.");
  program.helpCommand("help [command]", "Print the help of a command");
  addServe(program, context, onExit);
  addApp(program, context, onExit);
  addGenerate(program, context, onExit);
  addLibraryCommands(program, context, onExit);
  addQuantizeCommands(program, context, onExit);
  addRemoteCommands(program, context, onExit);
  addDeployCommands(program, context, onExit);
  addWorker(program, context, onExit);
  const doctor = program
    .command("doctor")
    .description("Show build, devices and folders of this installation");
  doctor.action(async () => {
    const { doctorCommand } = await import("./doctor-command.ts");
    onExit(await doctorCommand(context));
  });
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

function addServerSettings(command: Command, { hasVariant }: { hasVariant: boolean }): Command {
  for (const [title, table] of settingSections) {
    const shown = settingsIn(table).filter((setting) => hasVariant || setting !== settings.variant);
    addSettings(command, shown, title);
  }
  return command;
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

function addWorker(program: Command, context: CommandContext, onExit: OnExit): void {
  const worker = program
    .command("worker")
    .description("Lend this machine's devices to a server on another one (`ingle serve --rpc`)");
  addSettings(addFlags(worker, [pairFlag]), settingsIn(workerSettings)).action(async (flags: WorkerFlags) => {
    const { workerCommand } = await import("./worker-command.ts");
    onExit(await workerCommand(flags, context));
  });
}
