// Declares `ingle deploy …`. What a command does is loaded when it runs.
import type { Command } from "commander";
import type { CommandContext, OnExit } from "../context.ts";
import { addFlags } from "../flags.ts";
import { modalFlags, type ModalFlags } from "./deploy-flags.ts";

/** Adds `deploy modal`. */
export function addDeployCommands(program: Command, context: CommandContext, onExit: OnExit): void {
  const deploy = program.command("deploy").description("Deploy a model to a cloud platform");
  deploy.helpCommand(false);
  const modal = deploy
    .command("modal")
    .argument("[serve-flags...]", "flags of `ingle serve`, after --")
    .description("Deploy a model on Modal, wait until it is ready, and print its address");
  addFlags(modal, modalFlags).action(async (serveFlags: string[], flags: ModalFlags) => {
    const { deployModal } = await import("./deploy-modal.ts");
    onExit(await deployModal(flags, serveFlags, context));
  });
}
