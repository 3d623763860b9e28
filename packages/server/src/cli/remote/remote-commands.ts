// Declares the commands that talk to a running server. What a command does is loaded when it runs.
import type { Command } from "commander";
import type { CommandContext, OnExit } from "../context.ts";
import { addFlags } from "../flags.ts";
import {
  loadFlags,
  psFlags,
  remoteFlags,
  type LoadFlags,
  type PsFlags,
  type RemoteFlags,
} from "./remote-flags.ts";

/** Adds ps, load and unload. */
export function addRemoteCommands(program: Command, context: CommandContext, onExit: OnExit): void {
  const ps = program.command("ps").description("List the models that a running server has in memory");
  addFlags(ps, [...psFlags, ...remoteFlags]).action(async (flags: PsFlags) => {
    const { psCommand } = await import("./manage-commands.ts");
    onExit(await psCommand(flags, context));
  });
  const load = program
    .command("load")
    .argument("<model>", "id of the model")
    .description("Load a model into a running server");
  addFlags(load, [...loadFlags, ...remoteFlags]).action(async (model: string, flags: LoadFlags) => {
    const { loadCommand } = await import("./manage-commands.ts");
    onExit(await loadCommand(model, flags, context));
  });
  const unload = program
    .command("unload")
    .argument("<model>", "id of the model")
    .description("Unload a model from a running server, after the requests that use it");
  addFlags(unload, remoteFlags).action(async (model: string, flags: RemoteFlags) => {
    const { unloadCommand } = await import("./manage-commands.ts");
    onExit(await unloadCommand(model, flags, context));
  });
}
