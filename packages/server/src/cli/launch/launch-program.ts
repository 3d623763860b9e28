// The command `ingle launch`, and its flags.
import { Argument, Option, type Command } from "commander";
import { launchFlags, type LaunchFlags } from "./launch-flags.ts";
import type { CommandContext, OnExit } from "../context.ts";
import { addFlags } from "../flags.ts";
import { launchNames } from "./names.ts";

export function addLaunch(program: Command, context: CommandContext, onExit: OnExit): void {
  const name = new Argument("[program]", "the program; default: list them");
  // Only for help and completion: the command names the nearest one for an unknown one.
  name.argChoices = [...launchNames];
  const launch = program
    .command("launch")
    .addArgument(name)
    .argument("[arguments...]", "arguments of the program, after --")
    .description("Start a coding agent or another program, set up for a model on this machine")
    .helpOption(false);
  addFlags(launch, launchFlags)
    // An option of its own, because the program's part of the help is loaded.
    .addOption(new Option("-h, --help", "Print this help, with the details of the program"))
    .action(async (named: string | undefined, args: string[], flags: LaunchFlags & { help?: boolean }) => {
      if (flags.help === true) {
        const [{ findRecipe }, { helpText }] = await Promise.all([
          import("./launch-command.ts"),
          import("./program-texts.ts"),
        ]);
        const details = named === undefined ? "" : helpText(findRecipe(named));
        context.stdout.write(launch.helpInformation() + details);
        return;
      }
      const { launchCommand } = await import("./launch-command.ts");
      onExit(await launchCommand({ name: named, args }, flags, context));
    });
}
