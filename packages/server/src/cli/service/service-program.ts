// The commands of `ingle service`, and their flags.
import type { Command } from "commander";
import type { CommandContext, OnExit } from "../context.ts";
import { logFlags, type LogFlags } from "../command-flags.ts";
import { addFlags, parseServeFlags } from "../flags.ts";

export function addService(program: Command, context: CommandContext, onExit: OnExit): void {
  const service = program
    .command("service")
    .description("Keep `ingle serve` running in the background, from each login on");
  service.helpCommand(false);
  const install = service
    .command("install")
    .argument("[serve-flags...]", "flags of `ingle serve`")
    .description("Write a systemd unit or a launchd agent that runs `ingle serve`, and start it")
    .allowUnknownOption() // they are those of `ingle serve`, which checks them
    .action(async (serveFlags: string[]) => {
      const flags = parseServeFlags(serveFlags, install);
      const { installService } = await import("./service-commands.ts");
      onExit(await installService({ args: serveFlags, flags }, context));
    });
  service
    .command("remove")
    .description("Stop the service and remove its file; models and settings stay")
    .action(async () => {
      const { removeService } = await import("./service-commands.ts");
      onExit(await removeService(context));
    });
  service
    .command("status")
    .description("Show whether the service is installed and running")
    .action(async () => {
      const { serviceStatus } = await import("./service-commands.ts");
      onExit(await serviceStatus(context));
    });
  const logs = service.command("logs").description("Print the log of the service");
  addFlags(logs, logFlags).action(async (flags: LogFlags) => {
    const { serviceLogs } = await import("./service-commands.ts");
    onExit(await serviceLogs(flags, context));
  });
}
