// `ingle remove` takes models away, `ingle prune` what is of no use any more.
import type { Removal } from "@ingle/engine";
import { CliError, exitCodes } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import type { PruneFlags } from "./library-commands.ts";
import { formatBytes } from "../../format-bytes.ts";
import { shellWord } from "../text.ts";
import { loadedModels } from "../remote/running-servers.ts";

const dayMs = 24 * 60 * 60 * 1000;

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
    stdout.write(lineOf(await removeModel(name, options), "Removed"));
  }
  return exitCodes.ok;
}

/** Returns the exit code. Throws the engine's errors. */
export async function pruneCommand(flags: PruneFlags, context: CommandContext): Promise<number> {
  const { pruneLibrary } = await context.engine();
  const { env, shutdown, stdout, stderr } = context;
  const { unusedFor, dryRun } = flags;
  const unusedForMs = unusedFor === undefined ? undefined : unusedFor * dayMs;
  const removals = await pruneLibrary({ env, dryRun, unusedForMs, signal: shutdown.signal });
  const verb = dryRun === true ? "Would remove" : "Removed";
  for (const removal of removals) stdout.write(lineOf(removal, verb));
  const freed = removals.reduce((sum, { freedBytes }) => sum + freedBytes, 0);
  stderr.write(removals.length === 0 ? "There is nothing to remove.\n" : `${formatBytes(freed)} in all.\n`);
  return exitCodes.ok;
}

const reasons: Record<Removal["reason"], string> = {
  asked: "",
  unfinished: ", an unfinished download",
  unused: ", which nobody has used",
  gone: ", whose files are gone",
};

function lineOf({ what, reason, freedBytes }: Removal, verb: string): string {
  if (reason === "asked" && freedBytes === 0) return `Forgot ${what}; its files stay where they are.\n`;
  const size = freedBytes === 0 ? "" : ` (${formatBytes(freedBytes)})`;
  return `${verb} ${what}${reasons[reason]}${size}.\n`;
}
