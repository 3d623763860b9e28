// Converts the folder of a LoRA adapter, as PEFT or mlx-lm write it, to the GGUF file that llama.cpp's convert_lora_to_gguf.py would
// write, in the calling thread. Names, shapes and row orders are those of the base model's own conversion.
import { access } from "node:fs/promises";
import path from "node:path";

import { GgufWriter, readGguf, type GgufValue } from "@ingle/gguf";

import { float32, text } from "../architectures/architecture.ts";
import { MlxError } from "../errors.ts";
import { readFloats, writeFloats, type FloatType } from "../floats.ts";
import { readJson } from "../json-file.ts";
import { storedTypes } from "../storage.ts";
import { Weights } from "../weights.ts";
import { adapterPairs, type AdapterMatrix, type AdapterPair } from "./adapter-pairs.ts";
import { parseAdapterConfig, type AdapterSettings } from "./adapter-settings.ts";
import { baseMatrices } from "./base-matrices.ts";

export interface AdapterOptions {
  onProgress?: ((bytes: number, totalBytes: number) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** Lists of target modules make them a few KB. */
const CONFIG_BYTES_MAX = 1024 * 1024;

const weightFiles = { peft: "adapter_model.safetensors", mlx: "adapters.safetensors" } as const;

/**
 * Writes the file; if it fails, nothing is left behind. `base` is the GGUF file of the model that the adapter is for, the first one of a
 * split model. Throws `MlxError`, `GgufError`, file system errors and the signal's reason.
 */
export async function convertAdapter(
  folder: string,
  target: string,
  base: string,
  options: AdapterOptions = {},
): Promise<void> {
  options.signal?.throwIfAborted();
  const json = await readJson(folder, "adapter_config.json", CONFIG_BYTES_MAX);
  if (json === undefined) throw new MlxError("mlx_missing", `${folder} has no adapter_config.json.`);
  const settings = parseAdapterConfig(json);
  const known = baseMatrices((await readGguf(base, { isLenient: true })).metadata);
  await using weights = await Weights.open(folder, [await weightFile(folder, settings)]);
  const pairs = adapterPairs(weights.tensors, settings, known);
  const alpha = loraAlpha(pairs, settings);
  const metadata = new Map<string, GgufValue>([
    ["general.architecture", text(known.architecture)],
    ["general.type", text("adapter")],
    ["general.name", text(path.basename(path.resolve(folder)))],
    ["adapter.type", text("lora")],
    ["adapter.lora.alpha", float32(alpha)],
  ]);
  await writePairs(target, { metadata, pairs, alpha, settings, weights }, options);
}

async function weightFile(folder: string, { kind }: AdapterSettings): Promise<string> {
  const name = weightFiles[kind];
  try {
    await access(path.join(folder, name));
    return name;
  } catch (cause) {
    throw new MlxError("mlx_missing", `${folder} has no ${name}.`, { cause });
  }
}

/** GGUF scales each pair by one alpha over its rank. The first pair's is exact. */
function loraAlpha([first]: readonly AdapterPair[], { loraScale }: AdapterSettings): number {
  return first === undefined ? 1 : Math.fround(loraScale(first.module, first.rank) * first.rank);
}

interface Contents {
  metadata: Map<string, GgufValue>;
  pairs: readonly AdapterPair[];
  alpha: number;
  settings: AdapterSettings;
  weights: Weights;
}

async function writePairs(
  target: string,
  contents: Contents,
  { onProgress, signal }: AdapterOptions,
): Promise<void> {
  const { metadata, pairs, alpha, settings, weights } = contents;
  const sized = pairs.map((pair) => ({ ...pair, factor: remainingFactor(pair, alpha, settings) }));
  const tensors = sized.flatMap(({ plan: { name }, rank, a, b, factor }) => [
    { name: `${name}.lora_a`, typeCode: storedTypes[a.dtype].code, shape: [a.columns, rank] },
    { name: `${name}.lora_b`, typeCode: storedTypes[storedType(b, factor)].code, shape: [rank, b.rows] },
  ]);
  await using writer = await GgufWriter.open(target, { metadata, tensors });
  const totalBytes = pairs.reduce((sum, { a, b }) => sum + a.tensor.sizeBytes + b.tensor.sizeBytes, 0);
  let bytes = 0;
  const write = async (
    matrix: AdapterMatrix,
    type: FloatType,
    change: (values: Float32Array) => Float32Array,
  ) => {
    const values = change(await readValues(matrix, weights));
    await writer.add(storedTypes[type].code, [writeFloats(type, values)], { signal });
    bytes += matrix.tensor.sizeBytes;
    onProgress?.(bytes, totalBytes);
  };
  for (const { plan, a, b, factor } of sized) {
    await write(a, a.dtype, (values) => values);
    await write(b, storedType(b, factor), (values) =>
      scaled(reordered(values, b.columns, plan.rowOrder), factor),
    );
  }
  await writer.finish(metadata);
}

/** What is left of a pair's scale, for adapters whose pairs have different ones. 1 for all others. */
function remainingFactor(
  { module, rank }: AdapterPair,
  alpha: number,
  { loraScale }: AdapterSettings,
): number {
  const factor = (loraScale(module, rank) * rank) / alpha;
  return Math.abs(factor - 1) < 1e-6 ? 1 : factor;
}

/** Scaled values need more digits than they had. */
function storedType({ dtype }: AdapterMatrix, factor: number): FloatType {
  return factor === 1 ? dtype : "F32";
}

/** Row by row. Throws `mlx_malformed` for infinite values and NaN. */
async function readValues(
  { tensor, dtype, rows, columns, isTransposed }: AdapterMatrix,
  weights: Weights,
): Promise<Float32Array> {
  const values = readFloats(dtype, await weights.read(tensor, 0, tensor.sizeBytes));
  if (!values.every(Number.isFinite))
    throw new MlxError("mlx_malformed", `The tensor ${tensor.name} has weights that are infinite or NaN.`);
  if (!isTransposed) return values;
  const turned = new Float32Array(values.length);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      turned[row * columns + column] = values[column * rows + row] ?? 0;
  return turned;
}

function reordered(values: Float32Array, columns: number, order: Uint32Array | undefined): Float32Array {
  if (order === undefined) return values;
  const moved = new Float32Array(values.length);
  for (const [row, from] of order.entries())
    moved.set(values.subarray(from * columns, (from + 1) * columns), row * columns);
  return moved;
}

function scaled(values: Float32Array, factor: number): Float32Array {
  return factor === 1 ? values : values.map((value) => value * factor);
}
