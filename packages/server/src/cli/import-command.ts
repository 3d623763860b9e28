// `ingle import PATH`: makes models of this machine known by a name.
import { exitCodes, usageError } from "./cli-error.ts";
import type { CommandContext } from "./context.ts";
import type { ImportFlags } from "./library-commands.ts";
import { formatBytes } from "./print.ts";

/** Returns the exit code. Throws CliError for an alias that would stand for several models, and the engine's errors. */
export async function importCommand(
  path: string,
  flags: ImportFlags,
  context: CommandContext,
): Promise<number> {
  const { addAlias, importModels } = await context.engine();
  const { env, shutdown, stdout } = context;
  const models = await importModels(path, { env, copy: flags.copy, signal: shutdown.signal });
  for (const { id, path: file, sizeBytes } of models)
    stdout.write(`${id}  ${file} (${formatBytes(sizeBytes)})\n`);
  if (flags.alias === undefined) return exitCodes.ok;
  const [first, second] = models;
  if (first === undefined || second !== undefined)
    throw usageError(`${path} holds several models, and --alias is a name for one. Import its file.`);
  await addAlias(flags.alias, first.id, { env });
  return exitCodes.ok;
}
