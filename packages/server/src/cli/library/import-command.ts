// `ingle import PATH`: makes models of this machine known by a name.
import type { InstalledModel } from "@ingle/engine";
import { exitCodes } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { conversionText } from "../model/conversion-text.ts";
import { PhaseBars } from "../model/fetch-model.ts";
import type { ImportFlags } from "./library-commands.ts";
import { formatBytes } from "../../format-bytes.ts";

/** Returns the exit code. Throws the engine's errors. */
export async function importCommand(
  path: string,
  flags: ImportFlags,
  context: CommandContext,
): Promise<number> {
  const { importModels } = await context.engine();
  const { env, shutdown, stderr, stdout } = context;
  const conversions: string[] = [];
  const doImport = async (): Promise<InstalledModel[]> => {
    using bars = new PhaseBars(path, context);
    return await importModels(path, {
      env,
      ...flags,
      onProgress: (news) => bars.update(news),
      onConverted: (report) => conversions.push(conversionText(report)),
      signal: shutdown.signal,
    });
  };
  const models = await doImport();
  for (const text of conversions) stderr.write(text);
  for (const { id, path: file, sizeBytes } of models)
    stdout.write(`${id}  ${file} (${formatBytes(sizeBytes)})\n`);
  return exitCodes.ok;
}
