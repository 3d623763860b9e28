// Finds the folder's tensors that a planned tensor is made of, and reads their rows in pieces.
import type { TensorPlan } from "./architectures/architecture.ts";
import { MlxError } from "./errors.ts";
import { isFloatType, type FloatType } from "./floats.ts";
import { quantizedTensor, type QuantizationSettings, type QuantizedTensor } from "./quantization.ts";
import type { FolderTensor, Weights } from "./weights.ts";

/** A tensor of the folder, quantized or not. */
export type Source = PlainSource | (QuantizedTensor & SourceSize & { kind: "quantized" });

interface SourceSize {
  /** The rows of all matrices of a stack. */
  readonly rows: number;
  /** Weights in a row. */
  readonly columns: number;
}

interface PlainSource extends SourceSize {
  readonly kind: "plain";
  readonly weight: FolderTensor;
  readonly dtype: FloatType;
}

/** The bytes of some rows. */
export interface RawRows {
  readonly weight: Uint8Array;
  /** Empty if the tensor has none, like the biases. */
  readonly scales: Uint8Array;
  readonly biases: Uint8Array;
}

/** A planned tensor with everything that is needed to write it. */
export interface ReadyTensor {
  readonly plan: TensorPlan;
  /** At least one. All are stored in the same way. */
  readonly sources: readonly Source[];
  /** Sizes in ggml's order. */
  readonly shape: readonly number[];
  /** Names of all tensors of the folder that are read for it. */
  readonly takes: readonly string[];
}

/** Weights per piece: a few MiB in each array that a piece passes through. */
const pieceWeights = 1024 * 1024;
/** The widest real rows have some hundred thousand weights. */
const columnsMax = 2 ** 24;

/** Throws `MlxError`: `mlx_missing`, `mlx_malformed`, `mlx_unsupported` or `mlx_limit`. */
export function prepareTensor(
  plan: TensorPlan,
  settings: QuantizationSettings,
  weights: Weights,
): ReadyTensor {
  const sources = plan.sources.map((name) => findSource(name, plan, settings, weights));
  const [first] = sources;
  if (first === undefined) throw new TypeError(`${plan.name} has no source.`);
  for (const source of sources) checkAlike(plan.name, first, source);
  const takes = sources.flatMap((source) =>
    source.kind === "plain"
      ? [source.weight.name]
      : [source.weight, source.scales, source.biases].flatMap((tensor) => tensor?.name ?? []),
  );
  return { plan, sources, shape: checkedShape(plan, sources, first), takes };
}

function findSource(
  name: string,
  { rowOrder }: TensorPlan,
  settings: QuantizationSettings,
  weights: Weights,
): Source {
  const quantized = quantizedTensor(name, settings, (wanted) => weights.tensors.get(wanted));
  if (quantized !== undefined) {
    checkColumns(name, quantized.columns);
    const rows = (quantized.weight.sizeBytes * 8) / (quantized.columns * quantized.bits);
    return { kind: "quantized", ...quantized, rows };
  }
  const weight = weights.get(name);
  if (!isFloatType(weight.dtype)) {
    const message = `The tensor ${name} has the type ${weight.dtype}; supported types: F16, BF16, F32.`;
    throw new MlxError("mlx_unsupported", message);
  }
  const elements = weight.shape.reduce((product, size) => product * size, 1);
  if (elements === 0) throw new MlxError("mlx_malformed", `The tensor ${name} is empty.`);
  // In a reordered vector each value is a row.
  const columns = rowOrder !== undefined && weight.shape.length === 1 ? 1 : (weight.shape.at(-1) ?? 1);
  checkColumns(name, columns);
  return { kind: "plain", weight, dtype: weight.dtype, columns, rows: elements / columns };
}

function checkColumns(name: string, columns: number): void {
  if (columns > columnsMax)
    throw new MlxError(
      "mlx_limit",
      `The tensor ${name} has rows of ${columns} weights; at most ${columnsMax} are allowed.`,
    );
}

function checkAlike(name: string, first: Source, other: Source): void {
  const key = (source: Source): string =>
    source.kind === "plain"
      ? `${source.dtype} ${source.weight.shape.join("x")}`
      : `${source.mode} ${source.bits} ${source.groupSize} ${source.weight.shape.join("x")} ${source.scales.dtype}`;
  if (key(first) === key(other)) return;
  const message = `${first.weight.name} and ${other.weight.name} must have the same type and shape to form ${name}.`;
  throw new MlxError("mlx_unsupported", message);
}

function checkedShape(plan: TensorPlan, sources: readonly Source[], first: Source): readonly number[] {
  const { rowOrder, shape } = plan;
  if (rowOrder !== undefined && rowOrder.length !== first.rows)
    throw new MlxError(
      "mlx_malformed",
      `${first.weight.name} has ${first.rows} rows instead of ${rowOrder.length}.`,
    );
  if (plan.add !== undefined && first.kind === "quantized")
    throw new MlxError("mlx_unsupported", `${first.weight.name} must not be quantized.`);
  const stack = sources.length > 1 ? [sources.length] : [];
  const row = first.kind === "plain" ? (first.weight.shape.at(-1) ?? 1) : first.columns;
  const own = [row, ...first.weight.shape.slice(0, -1).toReversed(), ...stack];
  const withoutOnes = (sizes: readonly number[]): string => sizes.filter((size) => size !== 1).join(" x ");
  if (withoutOnes(shape) === withoutOnes(own)) return shape;
  const message = `${first.weight.name} is ${own.join(" x ")}; by config.json it must be ${shape.join(" x ")}.`;
  throw new MlxError("mlx_malformed", message);
}

/** The rows of all sources, one after the other, in the plan's order. */
export async function* readAllRows(
  { plan, sources }: ReadyTensor,
  weights: Weights,
): AsyncGenerator<RawRows, void, undefined> {
  for (const source of sources) {
    const rowsAtOnce = Math.max(1, Math.floor(pieceWeights / source.columns));
    for (let first = 0; first < source.rows; first += rowsAtOnce) {
      const end = Math.min(first + rowsAtOnce, source.rows);
      const order = plan.rowOrder?.subarray(first, end);
      const read = async (tensor: FolderTensor | undefined): Promise<Uint8Array> =>
        tensor === undefined
          ? new Uint8Array(0)
          : await readRows(weights, tensor, tensor.sizeBytes / source.rows, { first, end, order });
      if (source.kind === "plain") {
        yield { weight: await read(source.weight), scales: new Uint8Array(0), biases: new Uint8Array(0) };
      } else {
        const { weight, scales, biases } = source;
        yield { weight: await read(weight), scales: await read(scales), biases: await read(biases) };
      }
    }
  }
}

async function readRows(
  weights: Weights,
  tensor: FolderTensor,
  rowBytes: number,
  { first, end, order }: { first: number; end: number; order: Uint32Array | undefined },
): Promise<Uint8Array> {
  if (order === undefined) return await weights.read(tensor, first * rowBytes, (end - first) * rowBytes);
  // Orders move rows within a head, so the span from the first to the last row is little more than the rows themselves.
  const least = order.reduce((a, b) => Math.min(a, b), Infinity);
  const most = order.reduce((a, b) => Math.max(a, b), 0);
  const span = await weights.read(tensor, least * rowBytes, (most + 1 - least) * rowBytes);
  const rows = new Uint8Array(order.length * rowBytes);
  for (const [index, row] of order.entries()) {
    const at = (row - least) * rowBytes;
    rows.set(span.subarray(at, at + rowBytes), index * rowBytes);
  }
  return rows;
}
