// From a folder as MLX's tools write it to a GGUF file that llama.cpp loads: reads what the folder says, finds its family and
// has it written. Runs in the thread that calls it; in-worker.ts runs it beside a program's own work.
import path from "node:path";

import type { Architecture } from "./architectures/architecture.ts";
import { text } from "./architectures/metadata.ts";
import { architectureOf } from "./architectures/registry.ts";
import { parseConfig, type MlxConfig } from "./config.ts";
import { MlxError } from "./errors.ts";
import { readJson } from "./json-file.ts";
import { readQuantization, type QuantizationSettings } from "./quantization.ts";
import { tokenizerMetadata } from "./tokenizer/tokenizer.ts";
import { Weights } from "./weights.ts";
import { writeModel, type ConversionReport, type ConvertOptions } from "./write-model.ts";

/** What config.json says, and the family it names. */
interface KnownModel {
  config: MlxConfig;
  settings: QuantizationSettings;
  architecture: Architecture;
}

async function readSettings(folder: string): Promise<KnownModel> {
  const json = await readJson(folder, "config.json", CONFIG_BYTES_MAX);
  if (json === undefined) throw new MlxError("mlx_missing", `${folder} has no config.json.`);
  const config = parseConfig(json);
  return { config, settings: readQuantization(config), architecture: architectureOf(config) };
}

/** Settings of mixtures with an entry for each quantized module have some hundred KB. */
const CONFIG_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Whether the settings are those of a model that can be converted; weights are not looked at, and need not be there. Throws
 * `MlxError`: `mlx_missing`, `mlx_malformed` or `mlx_unsupported`, and the system's errors.
 */
export async function checkSettings(folder: string): Promise<void> {
  await readSettings(folder);
}

/**
 * Writes the file; nothing is left behind when it fails. Throws `MlxError`, the system's errors or the signal's reason.
 */
export async function convertFolder(
  folder: string,
  target: string,
  options: ConvertOptions = {},
): Promise<ConversionReport> {
  options.signal?.throwIfAborted();
  const { config, settings, architecture } = await readSettings(folder);
  await using weights = await Weights.open(folder);
  const planned = architecture.plan(config, new Set(weights.tensors.keys()));
  // llama.cpp knows Phi-3's tokenizer by the model's name.
  const name = path.basename(path.resolve(folder));
  const plan = { ...planned, metadata: new Map([...planned.metadata, ["general.name", text(name)]]) };
  const tokenizer = await tokenizerMetadata(folder, config, plan.vocabulary);
  return await writeModel(target, { plan, tokenizer, settings, weights }, options);
}
