// `ingle import PATH`: makes models of this machine known by a name.
import { exitCodes } from "./cli-error.ts";
import type { CommandContext } from "./context.ts";
import { conversionText } from "./conversion-text.ts";
import type { ImportFlags } from "./library-commands.ts";
import { formatBytes } from "./print.ts";

/** Returns the exit code. Throws the engine's errors. */
export async function importCommand(
  path: string,
  flags: ImportFlags,
  context: CommandContext,
): Promise<number> {
  const { importModels } = await context.engine();
  const { env, shutdown, stderr, stdout } = context;
  const models = await importModels(path, {
    env,
    ...flags,
    onConverted: (report) => stderr.write(conversionText(report)),
    signal: shutdown.signal,
  });
  for (const { id, path: file, sizeBytes } of models)
    stdout.write(`${id}  ${file} (${formatBytes(sizeBytes)})\n`);
  return exitCodes.ok;
}
