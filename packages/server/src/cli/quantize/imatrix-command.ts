// `ingle imatrix MODEL --text FILE`: computes the importance matrix that quantizing to few bits needs.
import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import type { ComputedImatrix } from "@ingle/engine";
import { exitCodes, usageError } from "../errors.ts";
import type { CommandContext } from "../context.ts";
import { fetchWithBars } from "../model/fetch-model.ts";
import { chooseModel } from "../model/choose-model.ts";
import { formatColumns, formatDuration, shellWord } from "../text.ts";
import { startProgress } from "../progress.ts";
import type { FlagsIn, imatrixFlags } from "../command-flags.ts";

/** Far more than is useful. */
const textBytesMax = 64 * 1024 * 1024;

/** Returns the exit code. Throws CliError for a text that cannot be read, and the engine's errors. */
export async function imatrixCommand(
  model: string,
  flags: FlagsIn<typeof imatrixFlags>,
  context: CommandContext,
): Promise<number> {
  const { computeImatrix } = await context.engine();
  const { env, now, shutdown, stdout, stderr } = context;
  const { offline = false, force, output, chunks, threads, ctx: contextLength } = flags;
  const { signal } = shutdown;
  const text = await readText(flags.text);
  const located = await chooseModel({ model, offline }, context);
  const file = await fetchWithBars(located, context, { offline, signal });
  const startedAt = now();
  const compute = async (): Promise<ComputedImatrix> => {
    using progress = startProgress(`Computing with ${located.id}`, context);
    return await computeImatrix(file, text, {
      output,
      chunks,
      threads,
      contextLength,
      overwrite: force,
      dataset: path.basename(flags.text),
      env,
      signal,
      onProgress: ({ chunks: done, totalChunks }) =>
        progress.update(done / totalChunks, `${done} of ${totalChunks} chunks`),
    });
  };
  const made = await compute();
  stderr.write(
    formatColumns([
      ["text", `${made.chunks} chunks of ${made.contextLength} tokens`],
      ["matrices", `${made.matrices}`],
      ["time", formatDuration(now() - startedAt)],
    ]) + `\n  ingle quantize ${shellWord(file)} --to IQ2_XXS --imatrix ${shellWord(made.path)}\n\n`,
  );
  stdout.write(`${made.path}\n`);
  return exitCodes.ok;
}

async function readText(file: string): Promise<string> {
  const stats = await stat(file).catch(() => undefined);
  if (stats?.isFile() !== true) throw usageError(`--text: ${file} does not exist, or is not a file.`);
  if (stats.size > textBytesMax)
    throw usageError(`--text: ${file} is larger than ${textBytesMax} bytes. A few megabytes are enough.`);
  return await readFile(file, "utf8");
}
