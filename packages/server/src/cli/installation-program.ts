// The commands about this installation of Ingle: completion in shells, upgrading, and what was built.
import { Argument, type Command } from "commander";
import type { CommandContext, OnExit } from "./context.ts";
import {
  doctorFlags,
  shells,
  upgradeFlags,
  type FlagsIn,
  type Shell,
  type UpgradeFlags,
} from "./command-flags.ts";
import { addFlags } from "./flags.ts";

export function addInstallation(program: Command, context: CommandContext, onExit: OnExit): void {
  program
    .command("completion")
    .addArgument(new Argument("<shell>", "your shell").choices(shells))
    .argument("[words...]", "after --: print the candidates for the last of these words, as the script does")
    .description("Print a script that completes commands, flags and models in your shell")
    .action(async (shell: Shell, words: string[]) => {
      const { completionCommand } = await import("./completion/completion-command.ts");
      onExit(await completionCommand({ shell, words, program }, context));
    });
  const upgrade = program.command("upgrade").description("Print the command that upgrades this installation");
  addFlags(upgrade, upgradeFlags).action(async (flags: UpgradeFlags) => {
    const { upgradeCommand } = await import("./upgrade/upgrade-command.ts");
    onExit(await upgradeCommand(flags, context));
  });
  const doctor = program
    .command("doctor")
    .argument("[model]", "a model on this machine; default: those that were used or added last")
    .description(
      "Show build, devices and folders of this installation, and how models would be placed in its memory",
    );
  addFlags(doctor, doctorFlags).action(
    async (model: string | undefined, flags: FlagsIn<typeof doctorFlags>) => {
      const { doctorCommand } = await import("./doctor/doctor-command.ts");
      onExit(await doctorCommand(model, flags, context));
    },
  );
}
