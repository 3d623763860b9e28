// Determines how each tensor of a folder is quantized, from config.json and the tensors' shapes. The rules are those of mlx-lm
// (utils.py, load_model): a module is quantized if it has `.scales`; an override for its path takes precedence over the defaults.
import { z } from "zod";

import type { MlxConfig } from "./config.ts";
import { MlxError } from "./errors.ts";
import { isObject } from "./json-file.ts";
import type { FolderTensor } from "./weights.ts";

/** `affine`: value = code * scale + bias. The others are floats of 4 or 8 bits with a scale of 8 bits per group. */
const modes = ["affine", "mxfp4", "mxfp8", "nvfp4"] as const;
export type QuantizationMode = (typeof modes)[number];

/** The quantization of one tensor. */
export interface Quantization {
  readonly mode: QuantizationMode;
  readonly bits: number;
  /** Weights that share a scale, along the row. */
  readonly groupSize: number;
}

/** The tensors of one quantized weight. */
export interface QuantizedTensor extends Quantization {
  /** Codes, packed into uint32. */
  readonly weight: FolderTensor;
  readonly scales: FolderTensor;
  /** In mode `affine` only. */
  readonly biases: FolderTensor | undefined;
  /** Weights in a row. */
  readonly columns: number;
}

const Settings = z.object({
  group_size: z.int().positive().optional(),
  bits: z.int().positive().optional(),
  mode: z.string().optional(),
});
type Settings = z.infer<typeof Settings>;

/** The quantization in config.json. */
export interface QuantizationSettings {
  /** Undefined if config.json has no quantization. */
  readonly defaults: Settings | undefined;
  /** By module path. */
  readonly modules: ReadonlyMap<string, Settings | boolean>;
}

/** MLX itself has 2 bits and more; builds of 1 bit are of a fork that MLX was asked to merge, with the same layout and formula. */
const affineBits = new Set([1, 2, 3, 4, 5, 6, 8]);
const affineGroups = new Set([32, 64, 128]);
const floatSizes: Readonly<Record<Exclude<QuantizationMode, "affine">, { bits: number; groupSize: number }>> =
  {
    mxfp4: { bits: 4, groupSize: 32 },
    mxfp8: { bits: 8, groupSize: 32 },
    nvfp4: { bits: 4, groupSize: 16 },
  };

/** Throws `MlxError`: `mlx_malformed` for an invalid block, `mlx_unsupported` for a method other than MLX's. */
export function readQuantization({ fields }: MlxConfig): QuantizationSettings {
  const block = fields["quantization"];
  if (block !== undefined && block !== null) return parseBlock(block);
  const other = fields["quantization_config"];
  if (!isObject(other)) return { defaults: undefined, modules: new Map() };
  const method = other["quant_method"];
  if (method === undefined) return parseBlock(other);
  if (method === "mxfp4") return { defaults: { mode: "mxfp4" }, modules: new Map() };
  throw new MlxError(
    "mlx_unsupported",
    `The weights are quantized by the method ${JSON.stringify(method)}; only MLX's own methods can be converted.`,
  );
}

function parseBlock(block: unknown): QuantizationSettings {
  const defaults = Settings.safeParse(block);
  if (!isObject(block) || !defaults.success)
    throw new MlxError(
      "mlx_malformed",
      "The quantization in config.json is not an object of the expected fields.",
    );
  const modules = new Map<string, Settings | boolean>();
  for (const [module, value] of Object.entries(block)) {
    if (["group_size", "bits", "mode"].includes(module)) continue;
    const override = typeof value === "boolean" ? value : Settings.safeParse(value).data;
    // Keys that are not module paths, such as `quantize_activations`, do not affect weights.
    if (override !== undefined) modules.set(module, override);
  }
  return { defaults: defaults.data, modules };
}

/**
 * The quantization of the tensor `<module>.weight`, or undefined if it is not quantized. `find` returns a tensor of the folder
 * by its name. Throws `MlxError`: `mlx_malformed`, `mlx_missing` or `mlx_unsupported`.
 */
export function quantizedTensor(
  name: string,
  settings: QuantizationSettings,
  find: (name: string) => FolderTensor | undefined,
): QuantizedTensor | undefined {
  const module = name.endsWith(".weight") ? name.slice(0, -".weight".length) : undefined;
  const scales = module === undefined ? undefined : find(`${module}.scales`);
  if (module === undefined || scales === undefined) return undefined;
  const weight = find(name);
  if (weight === undefined) throw new MlxError("mlx_missing", `The folder lacks the tensor ${name}.`);
  if (find(`${module}.global_scale`) !== undefined) {
    const message = `${module} has a scale for the whole tensor (global_scale), which cannot be converted.`;
    throw new MlxError("mlx_unsupported", message);
  }
  const quantization = moduleQuantization(module, settings, weight, scales);
  const columns = (lastDimension(weight) * 32) / quantization.bits;
  const biases = quantization.mode === "affine" ? find(`${module}.biases`) : undefined;
  const found = { ...quantization, weight, scales, biases, columns };
  checkTensors(module, found);
  return found;
}

/** From the module's override or the defaults; missing sizes follow from the shapes. */
function moduleQuantization(
  module: string,
  { defaults, modules }: QuantizationSettings,
  weight: FolderTensor,
  scales: FolderTensor,
): Quantization {
  const override = modules.get(module);
  if (override === false)
    throw malformed(module, "has scales, but config.json says that it is not quantized");
  const given = override === undefined || override === true ? defaults : override;
  const mode = parseMode(module, given?.mode ?? "affine");
  if (mode !== "affine") {
    const sizes = floatSizes[mode];
    const isUsual =
      (given?.bits ?? sizes.bits) === sizes.bits &&
      (given?.group_size ?? sizes.groupSize) === sizes.groupSize;
    if (!isUsual) throw malformed(module, `has bits or a group_size that ${mode} does not allow`);
    return { mode, ...sizes };
  }
  // The shapes give only bits * groupSize.
  const product = (32 * lastDimension(weight)) / lastDimension(scales);
  const groupSize = given?.group_size ?? (given?.bits === undefined ? undefined : product / given.bits);
  if (groupSize === undefined) throw malformed(module, "has scales, but config.json has no quantization");
  // Some builds of mixed sizes list no overrides: without one, the shapes take precedence over the defaults.
  const bits = (typeof override === "object" ? override.bits : undefined) ?? product / groupSize;
  if (!affineBits.has(bits) || !affineGroups.has(groupSize))
    throw malformed(module, `has ${bits} bits in groups of ${groupSize}, which MLX does not have`);
  return { mode, bits, groupSize };
}

function parseMode(module: string, text: string): QuantizationMode {
  const mode = modes.find((candidate) => candidate === text);
  if (mode !== undefined) return mode;
  const message = `${module} is quantized in the mode "${text}"; supported modes: ${modes.join(", ")}.`;
  throw new MlxError("mlx_unsupported", message);
}

function checkTensors(
  module: string,
  { mode, groupSize, weight, scales, biases, columns }: QuantizedTensor,
): void {
  if (weight.dtype !== "U32") throw malformed(module, `has codes of the type ${weight.dtype} instead of U32`);
  const floats = ["F16", "BF16", "F32"];
  const isScale = mode === "affine" ? floats.includes(scales.dtype) : scales.dtype === "U8";
  if (!isScale) throw malformed(module, `has scales of the wrong type ${scales.dtype}`);
  if (columns !== lastDimension(scales) * groupSize || columns === 0)
    throw malformed(
      module,
      `has ${columns} weights in a row and scales for ${lastDimension(scales) * groupSize}`,
    );
  const rows = (tensor: FolderTensor): string => tensor.shape.slice(0, -1).join(" x ");
  if (weight.shape.length < 2 || rows(weight) !== rows(scales))
    throw malformed(module, "has weights and scales of different shapes");
  if (mode !== "affine") return;
  if (biases === undefined) throw new MlxError("mlx_missing", `${module} lacks its biases.`);
  if (biases.dtype !== scales.dtype || biases.shape.join(" x ") !== scales.shape.join(" x "))
    throw malformed(module, "has scales and biases of different shapes or types");
}

function lastDimension({ shape }: FolderTensor): number {
  return shape.at(-1) ?? 0;
}

function malformed(module: string, what: string): MlxError {
  return new MlxError("mlx_malformed", `The module ${module} ${what}.`);
}
