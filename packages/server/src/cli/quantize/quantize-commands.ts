// Declares the commands that write model files. What a command does is loaded when it runs.
import type { Command } from "commander";
import type { CommandContext, OnExit } from "../context.ts";
import { addFlags } from "../flags.ts";
import { imatrixFlags, quantizeFlags, type ImatrixFlags, type QuantizeFlags } from "./quantize-flags.ts";

const modelHelp = "a .gguf file, org/repo:F16 on the hub, or a name from `ingle list`";

/** Adds quantize and imatrix. */
export function addQuantizeCommands(program: Command, context: CommandContext, onExit: OnExit): void {
  const quantize = program
    .command("quantize")
    .argument("<model>", modelHelp)
    .argument("[output]", "file or folder to write to; default: beside the model")
    .description("Write a model with fewer bits per weight");
  addFlags(quantize, quantizeFlags).action(
    async (model: string, output: string | undefined, flags: QuantizeFlags) => {
      const { quantizeCommand } = await import("./quantize-command.ts");
      onExit(await quantizeCommand(model, output, flags, context));
    },
  );
  const imatrix = program
    .command("imatrix")
    .argument("<model>", modelHelp)
    .description("Compute an importance matrix, for quantizing to few bits");
  addFlags(imatrix, imatrixFlags).action(async (model: string, flags: ImatrixFlags) => {
    const { imatrixCommand } = await import("./imatrix-command.ts");
    onExit(await imatrixCommand(model, flags, context));
  });
}
