// `ingle alias NAME MODEL` gives a model that is there a name of the user's own; `ingle alias --remove NAME` takes it away.
import { exitCodes, usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import type { AliasFlags } from "./library-commands.ts";

/** Returns the exit code. Throws CliError for half of an order, and the engine's errors. */
export async function aliasCommand(
  name: string,
  model: string | undefined,
  flags: AliasFlags,
  context: CommandContext,
): Promise<number> {
  const { addAlias, removeAlias } = await context.engine();
  const { env, shutdown, stdout } = context;
  const options = { env, signal: shutdown.signal };
  if (flags.remove === true) {
    if (model !== undefined) throw usageError("--remove takes the name alone: ingle alias --remove NAME.");
    stdout.write(`${await removeAlias(name, options)} is not called ${name} any more.\n`);
    return exitCodes.ok;
  }
  if (model === undefined)
    throw usageError(`Say which model is to be called ${name}: ingle alias ${name} MODEL.`);
  stdout.write(`${await addAlias(name, model, options)} is called ${name} now.\n`);
  return exitCodes.ok;
}
