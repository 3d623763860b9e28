// The commands that make files of models, as data for commander. What a command does is loaded when it is called. Used by
// program.ts.
import { InvalidArgumentError, type Command } from "commander";
import type { CommandContext } from "../context.ts";

/** Takes the exit code of the command that ran. */
type OnExit = (exitCode: number) => void;

export interface QuantizeFlags {
  to?: string;
  imatrix?: string;
  allowRequantize?: boolean;
  force?: boolean;
  threads?: number;
  offline?: boolean;
}
export interface ImatrixFlags {
  text: string;
  output?: string;
  chunks?: number;
  ctx?: number;
  force?: boolean;
  threads?: number;
  offline?: boolean;
}

const modelHelp = "a .gguf file, org/repo:F16 on the hub, or a name of ingle list";

/** Adds quantize and imatrix. */
export function addQuantizeCommands(program: Command, context: CommandContext, onExit: OnExit): void {
  program
    .command("quantize")
    .argument("<model>", modelHelp)
    .argument("[output]", "the file to write, or a folder for it; beside the model when it is left out")
    .description("write a model with fewer bits for each weight")
    .option("--to <level>", "Q4_K_M (the default), Q6_K, Q8_0, …; a wrong one lists them all")
    .option("--imatrix <file>", "an importance matrix of this model, as ingle imatrix makes it")
    .option("--allow-requantize", "take a model that is quantized already")
    .option("--force", "write over a file that is there")
    .option("--threads <number>", "threads that compute", count)
    .option("--offline", "fetch nothing: the model must be there")
    .action(async (model: string, output: string | undefined, flags: QuantizeFlags) => {
      const { quantizeCommand } = await import("./quantize-command.ts");
      onExit(await quantizeCommand(model, output, flags, context));
    });
  program
    .command("imatrix")
    .argument("<model>", modelHelp)
    .description("find out which weights matter, for quantizing to few bits")
    .requiredOption("--text <file>", "a text of the kind that the model will be used for")
    .option(
      "-o, --output <file>",
      "the file to write, or a folder for it; beside the model when it is left out",
    )
    .option("--chunks <number>", "most pieces of the text to read; all when it is left out", count)
    .option("--ctx <tokens>", "tokens of one piece", count)
    .option("--force", "write over a file that is there")
    .option("--threads <number>", "threads that compute", count)
    .option("--offline", "fetch nothing: the model must be there")
    .action(async (model: string, flags: ImatrixFlags) => {
      const { imatrixCommand } = await import("./imatrix-command.ts");
      onExit(await imatrixCommand(model, flags, context));
    });
}

function count(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number of at least 1.");
}
