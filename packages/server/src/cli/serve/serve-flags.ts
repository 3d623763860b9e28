// The flags of `ingle serve`, for the commands that take them.
import { Command } from "commander";
import { settingsIn } from "../../settings/setting.ts";
import { settings, settingSections, type ServerFlags } from "../../settings/settings.ts";
import { addSettings } from "../flags.ts";

export function addServerSettings(command: Command, { hasVariant }: { hasVariant: boolean }): Command {
  for (const [title, table] of settingSections) {
    const shown = settingsIn(table).filter((setting) => hasVariant || setting !== settings.variant);
    addSettings(command, shown, title);
  }
  return command;
}

/** Reads flags that another command hands on. Throws commander's errors, after printing them as `asker` does. */
export function parseServeFlags(args: readonly string[], asker: Command): ServerFlags {
  const serve = addServerSettings(new Command("serve"), { hasVariant: true }).copyInheritedSettings(asker);
  return serve.parse([...args], { from: "user" }).opts<ServerFlags>();
}
