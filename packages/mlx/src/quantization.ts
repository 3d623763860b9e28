// How each of a folder's tensors is quantized: what config.json says, and what the tensors themselves tell. The rules are
// those of mlx-lm (utils.py, load_model): a module is quantized if it has `.scales`; overrides by module path, else the
// defaults of the block. Used by sources.ts.
import { z } from "zod";

import type { MlxConfig } from "./config.ts";
import { MlxError } from "./errors.ts";
import type { FolderTensor } from "./weights.ts";

/** `affine`: value = code * scale + bias. The others are floats of 4 or 8 bits with a scale of 8 bits for each group. */
const modes = ["affine", "mxfp4", "mxfp8", "nvfp4"] as const;
export type QuantizationMode = (typeof modes)[number];

/** How one tensor is stored. */
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
  /** Of the mode `affine` alone. */
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

/** What config.json says, by module path. */
export interface QuantizationSettings {
  /** Undefined where the configuration speaks of no quantization at all. */
  readonly defaults: Settings | undefined;
  readonly modules: ReadonlyMap<string, Settings | boolean>;
}

const affineBits = new Set([2, 3, 4, 5, 6, 8]);
const affineGroups = new Set([32, 64, 128]);
const floatSizes: Readonly<Record<Exclude<QuantizationMode, "affine">, { bits: number; groupSize: number }>> =
  {
    mxfp4: { bits: 4, groupSize: 32 },
    mxfp8: { bits: 8, groupSize: 32 },
    nvfp4: { bits: 4, groupSize: 16 },
  };

/** Throws `MlxError`: `mlx_malformed` for a block that is none, `mlx_unsupported` for a way of storing that is not MLX's. */
export function readQuantization({ fields }: MlxConfig): QuantizationSettings {
  // Models with vision keep what belongs to the text in a part of their own.
  const text = asObject(fields["text_config"]) ?? {};
  const block = fields["quantization"] ?? text["quantization"];
  if (block !== undefined && block !== null) return parseBlock(block);
  const other = asObject(fields["quantization_config"] ?? text["quantization_config"]);
  if (other === undefined) return { defaults: undefined, modules: new Map() };
  const method = other["quant_method"];
  if (method === undefined) return parseBlock(other);
  if (method === "mxfp4") return { defaults: { mode: "mxfp4" }, modules: new Map() };
  throw new MlxError(
    "mlx_unsupported",
    `The weights are stored by the method ${JSON.stringify(method)}, which is not MLX's own.`,
  );
}

function parseBlock(block: unknown): QuantizationSettings {
  const fields = asObject(block);
  const defaults = Settings.safeParse(fields);
  if (fields === undefined || !defaults.success)
    throw new MlxError("mlx_malformed", "The quantization in config.json is not what it should be.");
  const modules = new Map<string, Settings | boolean>();
  for (const [module, value] of Object.entries(fields)) {
    if (["group_size", "bits", "mode"].includes(module)) continue;
    const override = typeof value === "boolean" ? value : Settings.safeParse(value).data;
    // Keys that are no module's, as `quantize_activations`, hold other things; they change no weight.
    if (override !== undefined) modules.set(module, override);
  }
  return { defaults: defaults.data, modules };
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : undefined;
}

/**
 * How the tensor `<module>.weight` is quantized; undefined when it is stored as plain numbers. `find` gives a tensor of the
 * folder by its name. Throws `MlxError`: `mlx_malformed`, `mlx_missing` or `mlx_unsupported`.
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
  const quantization = sizesOf(module, settings, weight, scales);
  const columns = (lastOf(weight) * 32) / quantization.bits;
  const biases = quantization.mode === "affine" ? find(`${module}.biases`) : undefined;
  const found = { ...quantization, weight, scales, biases, columns };
  checkTensors(module, found);
  return found;
}

/** The override of the module, else the defaults; what is left open follows from the shapes. */
function sizesOf(
  module: string,
  { defaults, modules }: QuantizationSettings,
  weight: FolderTensor,
  scales: FolderTensor,
): Quantization {
  const override = modules.get(module);
  if (override === false)
    throw malformed(module, "has scales, and config.json says that it is not quantized");
  const said = override === undefined || override === true ? defaults : override;
  const mode = modeOf(module, said?.mode ?? "affine");
  if (mode !== "affine") {
    const sizes = floatSizes[mode];
    const isUsual =
      (said?.bits ?? sizes.bits) === sizes.bits && (said?.group_size ?? sizes.groupSize) === sizes.groupSize;
    if (!isUsual) throw malformed(module, `says ${mode} with sizes that ${mode} does not have`);
    return { mode, ...sizes };
  }
  // bits * groupSize, whatever each of them is.
  const product = (32 * lastOf(weight)) / lastOf(scales);
  const groupSize = said?.group_size ?? (said?.bits === undefined ? undefined : product / said.bits);
  if (groupSize === undefined)
    throw malformed(module, "has scales, and config.json says nothing of quantization");
  // Builds of mixed sizes that name no overrides exist: without one, the shapes know better than the defaults.
  const bits = (typeof override === "object" ? override.bits : undefined) ?? product / groupSize;
  if (!affineBits.has(bits) || !affineGroups.has(groupSize))
    throw malformed(module, `would have ${bits} bits in groups of ${groupSize}`);
  return { mode, bits, groupSize };
}

function modeOf(module: string, text: string): QuantizationMode {
  const mode = modes.find((candidate) => candidate === text);
  if (mode !== undefined) return mode;
  const message = `${module} is quantized in the mode "${text}"; ${modes.join(", ")} can be converted.`;
  throw new MlxError("mlx_unsupported", message);
}

function checkTensors(
  module: string,
  { mode, groupSize, weight, scales, biases, columns }: QuantizedTensor,
): void {
  if (weight.dtype !== "U32") throw malformed(module, `has codes of the type ${weight.dtype} instead of U32`);
  const floats = ["F16", "BF16", "F32"];
  const isScale = mode === "affine" ? floats.includes(scales.dtype) : scales.dtype === "U8";
  if (!isScale) throw malformed(module, `has scales of the type ${scales.dtype}`);
  if (columns !== lastOf(scales) * groupSize || columns === 0)
    throw malformed(module, `has ${columns} weights in a row and scales for ${lastOf(scales) * groupSize}`);
  const rows = (tensor: FolderTensor): string => tensor.shape.slice(0, -1).join(" x ");
  if (weight.shape.length < 2 || rows(weight) !== rows(scales))
    throw malformed(module, "has weights and scales of different shapes");
  if (mode !== "affine") return;
  if (biases === undefined) throw new MlxError("mlx_missing", `${module} lacks its biases.`);
  if (biases.dtype !== scales.dtype || biases.shape.join(" x ") !== scales.shape.join(" x "))
    throw malformed(module, "has scales and biases of different shapes or types");
}

function lastOf({ shape }: FolderTensor): number {
  return shape.at(-1) ?? 0;
}

function malformed(module: string, what: string): MlxError {
  return new MlxError("mlx_malformed", `The module ${module} ${what}.`);
}
