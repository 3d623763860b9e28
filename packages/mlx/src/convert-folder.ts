// Converts the folder of an MLX-style build to a GGUF file, in the calling thread. in-worker.ts does it in another thread.
import path from "node:path";

import type { Architecture } from "./architectures/architecture.ts";
import { findArchitecture } from "./architectures/registry.ts";
import { parseConfig, type MlxConfig } from "./config.ts";
import { MlxError } from "./errors.ts";
import { samplingMetadata } from "./generation-config.ts";
import { readJson } from "./json-file.ts";
import { readQuantization, type QuantizationSettings } from "./quantization.ts";
import { tokenizerMetadata } from "./tokenizer/tokenizer.ts";
import { Weights } from "./weights.ts";
import { writeModel, type ConversionReport, type ConvertOptions } from "./write-model.ts";

/** Settings of mixtures of experts, with an entry for each quantized module, have some hundred KB. */
const CONFIG_BYTES_MAX = 16 * 1024 * 1024;

interface Settings {
  config: MlxConfig;
  settings: QuantizationSettings;
  architecture: Architecture;
}

async function readSettings(folder: string): Promise<Settings> {
  const json = await readJson(folder, "config.json", CONFIG_BYTES_MAX);
  if (json === undefined) throw new MlxError("mlx_missing", `${folder} has no config.json.`);
  const config = parseConfig(json);
  return { config, settings: readQuantization(config), architecture: findArchitecture(config) };
}

/**
 * Checks that the settings are those of a model that can be converted. The weights need not be there. Throws `MlxError`:
 * `mlx_missing`, `mlx_malformed` or `mlx_unsupported`, and file system errors.
 */
export async function checkSettings(folder: string): Promise<void> {
  await readSettings(folder);
}

/** Writes the file; if it fails, nothing is left behind. Throws `MlxError`, file system errors and the signal's reason. */
export async function convertFolder(
  folder: string,
  target: string,
  options: ConvertOptions = {},
): Promise<ConversionReport> {
  options.signal?.throwIfAborted();
  const { config, settings, architecture } = await readSettings(folder);
  await using weights = await Weights.open(folder);
  const planned = architecture.plan(config, new Set(weights.tensors.keys()));
  // llama.cpp recognizes Phi-3's tokenizer by the model's name.
  const value = path.basename(path.resolve(folder));
  const metadata = new Map([...planned.metadata, ...(await samplingMetadata(folder))]);
  metadata.set("general.name", { type: "string", value });
  const plan = { ...planned, metadata };
  const tokenizer = await tokenizerMetadata(folder, config, plan.vocabulary);
  return await writeModel(target, { plan, tokenizer, settings, weights }, options);
}
