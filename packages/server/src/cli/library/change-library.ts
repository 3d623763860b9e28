// `ingle alias`, `ingle remove` and `ingle prune`: names and files of the models on this machine.
import type { Removal } from "@ingle/engine";
import type { CommandContext } from "../context.ts";
import { CliError, exitCodes, usageError } from "../errors.ts";
import { loadedModels } from "../remote/running-servers.ts";
import { formatBytes, shellWord } from "../text.ts";
import type { aliasFlags, FlagsIn, pruneFlags } from "../command-flags.ts";

/** `alias NAME MODEL` adds the name, `alias --remove NAME` removes it. Returns the exit code. Throws CliError and the engine's errors. */
export async function aliasCommand(
  name: string,
  model: string | undefined,
  flags: FlagsIn<typeof aliasFlags>,
  context: CommandContext,
): Promise<number> {
  const { addAlias, removeAlias } = await context.engine();
  const { env, shutdown, stdout } = context;
  const options = { env, signal: shutdown.signal };
  if (flags.remove === true) {
    if (model !== undefined) throw usageError("--remove takes only the name: ingle alias --remove NAME.");
    stdout.write(`${await removeAlias(name, options)} is no longer called ${name}.\n`);
    return exitCodes.ok;
  }
  if (model === undefined) throw usageError(`Name the model as well: ingle alias ${name} MODEL.`);
  stdout.write(`${await addAlias(name, model, options)} is now called ${name}.\n`);
  return exitCodes.ok;
}

/** Returns the exit code. Throws CliError for a model that is loaded, and the engine's errors. */
export async function removeCommand(names: string[], context: CommandContext): Promise<number> {
  const { libraryPaths, listModels, removeModel } = await context.engine();
  const { env, shutdown, stdout } = context;
  const options = { env, signal: shutdown.signal };
  const [models, loaded] = await Promise.all([listModels(options), loadedModels(libraryPaths(env))]);
  for (const name of names) {
    const model = models.find(({ id, aliases }) => id === name || aliases.includes(name));
    const server = model === undefined ? undefined : loaded.get(model.id);
    if (model !== undefined && server !== undefined)
      throw new CliError(
        `${name} is loaded by the server at ${server}. Unload it with \`ingle unload ${shellWord(model.id)}\`, or stop the server.`,
      );
    stdout.write(removalLine(await removeModel(name, options), "Removed"));
  }
  return exitCodes.ok;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Returns the exit code. Throws the engine's errors. */
export async function pruneCommand(
  flags: FlagsIn<typeof pruneFlags>,
  context: CommandContext,
): Promise<number> {
  const { pruneLibrary } = await context.engine();
  const { env, shutdown, stdout, stderr } = context;
  const { unusedFor, dryRun } = flags;
  const unusedForMs = unusedFor === undefined ? undefined : unusedFor * dayMs;
  const removals = await pruneLibrary({ env, dryRun, unusedForMs, signal: shutdown.signal });
  const verb = dryRun === true ? "Would remove" : "Removed";
  for (const removal of removals) stdout.write(removalLine(removal, verb));
  const freed = removals.reduce((sum, { freedBytes }) => sum + freedBytes, 0);
  stderr.write(removals.length === 0 ? "Nothing to remove.\n" : `${formatBytes(freed)} in total.\n`);
  return exitCodes.ok;
}

const reasons: Record<Removal["reason"], string> = {
  asked: "",
  unfinished: ", an unfinished download",
  unused: ", which was not used",
  gone: ", whose files are missing",
  orphaned: ", an adapter whose model is not installed",
};

function removalLine({ what, reason, freedBytes }: Removal, verb: string): string {
  if (reason === "asked" && freedBytes === 0)
    return `Removed ${what} from the library; its files stay where they are.\n`;
  const size = freedBytes === 0 ? "" : ` (${formatBytes(freedBytes)})`;
  return `${verb} ${what}${reasons[reason]}${size}.\n`;
}
