// From a folder as MLX's tools write it to a GGUF file that llama.cpp loads: reads what the folder says, finds its family and
// has it written. Runs in the thread that calls it; in-worker.ts runs it beside a program's own work.
import { architectureOf } from "./architectures/registry.ts";
import { parseConfig } from "./config.ts";
import { MlxError } from "./errors.ts";
import { readJson } from "./json-file.ts";
import { readQuantization } from "./quantization.ts";
import { tokenizerMetadata } from "./tokenizer/tokenizer.ts";
import { Weights } from "./weights.ts";
import { writeModel, type ConversionReport, type ConvertOptions } from "./write-model.ts";

/**
 * Writes the file; nothing is left behind when it fails. Throws `MlxError`, the system's errors or the signal's reason.
 */
export async function convertFolder(
  folder: string,
  target: string,
  options: ConvertOptions = {},
): Promise<ConversionReport> {
  options.signal?.throwIfAborted();
  const json = await readJson(folder, "config.json");
  if (json === undefined) throw new MlxError("mlx_missing", `${folder} has no config.json.`);
  const config = parseConfig(json);
  const settings = readQuantization(config);
  await using weights = await Weights.open(folder);
  const plan = architectureOf(config).plan(config, new Set(weights.tensors.keys()));
  const tokenizer = await tokenizerMetadata(folder, config, plan.vocabulary);
  return await writeModel(target, { plan, tokenizer, settings, weights }, options);
}
