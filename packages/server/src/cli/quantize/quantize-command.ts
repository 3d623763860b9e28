// `ingle quantize MODEL [OUTPUT]`: writes a model with fewer bits per weight, and prints how to use it.
import type { QuantizedModel } from "@ingle/engine";
import { registerQuantized } from "../../models/library/model-library.ts";
import { exitCodes } from "../errors.ts";
import type { CommandContext } from "../context.ts";
import { fetchWithBars } from "../model/fetch-model.ts";
import { chooseModel } from "../model/choose-model.ts";
import { formatBytes, formatColumns, formatDuration, shellWord } from "../text.ts";
import { startProgress } from "../progress.ts";
import type { FlagsIn, quantizeFlags } from "../command-flags.ts";

/** Returns the exit code. Throws the engine's errors. */
export async function quantizeCommand(
  model: string,
  output: string | undefined,
  flags: FlagsIn<typeof quantizeFlags>,
  context: CommandContext,
): Promise<number> {
  const { EngineError, quantizeModel, registerModel } = await context.engine();
  const { env, now, shutdown, stdout, stderr } = context;
  const { offline = false, force, ...options } = flags;
  const { signal } = shutdown;
  const located = await chooseModel({ model, offline }, context);
  const file = await fetchWithBars(located, context, { offline, signal });
  const startedAt = now();
  const quantize = async (): Promise<QuantizedModel> => {
    using progress = startProgress(`Quantizing ${located.id}`, context);
    return await quantizeModel(file, {
      ...options,
      output,
      overwrite: force,
      env,
      signal,
      onProgress: ({ bytes, totalBytes, tensor }) => progress.update(bytes / totalBytes, tensor),
    });
  };
  const made = await quantize();
  const duration = formatDuration(now() - startedAt);
  const id = await registerQuantized(made.path, { env, signal }, { EngineError, registerModel });
  stderr.write(
    formatColumns([
      ["quantization", `${made.quantization}, ${made.bitsPerWeight.toFixed(2)} bits per weight`],
      ["size", `${formatBytes(made.sizeBytes)}, from ${formatBytes(made.sizeBytesBefore)}`],
      ["time", duration],
      ["model", id ?? "not in `ingle list`, where another model has this name; use its path"],
    ]) + `\n  ingle serve --model ${shellWord(id ?? made.path)}\n\n`,
  );
  stdout.write(`${made.path}\n`);
  return exitCodes.ok;
}
