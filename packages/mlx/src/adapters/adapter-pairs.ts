// The pairs of matrices in the weights of an adapter's folder, by the module of the base that each pair changes.
import { MlxError } from "../errors.ts";
import { isFloatType, type FloatType } from "../floats.ts";
import type { FolderTensor } from "../weights.ts";
import type { AdapterSettings } from "./adapter-settings.ts";
import type { BaseMatrices } from "./base-matrices.ts";
import type { TensorPlan } from "../architectures/architecture.ts";

/** One side of a pair. `isTransposed`: the folder stores columns one after the other. */
export interface AdapterMatrix {
  tensor: FolderTensor;
  dtype: FloatType;
  rows: number;
  columns: number;
  isTransposed: boolean;
}

export interface AdapterPair {
  module: string;
  plan: TensorPlan;
  rank: number;
  /** `rank` rows, as wide as the base's. */
  a: AdapterMatrix;
  /** As many rows as the base's, `rank` wide. */
  b: AdapterMatrix;
}

/** A tensor is read whole. The output matrix of a large vocabulary needs about this much at the largest rank. */
const TENSOR_BYTES_MAX = 1024 * 1024 * 1024;

const sides = {
  peft: /^(?:base_model\.model\.)?(.+)\.lora_([AB])\.weight$/,
  mlx: /^(.+)\.lora_([ab])$/,
};

/** In the order of the base's tensors. Throws `MlxError`: `mlx_missing`, `mlx_malformed`, `mlx_unsupported` or `mlx_limit`. */
export function adapterPairs(
  tensors: ReadonlyMap<string, FolderTensor>,
  { kind }: Pick<AdapterSettings, "kind">,
  { matrices, architecture }: BaseMatrices,
): AdapterPair[] {
  const found = new Map<string, Map<string, FolderTensor>>();
  for (const tensor of tensors.values()) {
    const [, path, side] = sides[kind].exec(tensor.name) ?? [];
    if (path === undefined || side === undefined) throw foreign(tensor.name);
    const module = withoutWrapper(path);
    if (!matrices.has(module)) {
      const message = `The adapter changes ${module}, which adapters cannot change in ${architecture} models.`;
      throw new MlxError("mlx_unsupported", message);
    }
    const own = found.get(module) ?? new Map<string, FolderTensor>();
    if (own.has(side.toLowerCase()))
      throw new MlxError("mlx_malformed", `The adapter changes ${module} twice.`);
    found.set(module, own.set(side.toLowerCase(), tensor));
  }
  if (found.size === 0) throw new MlxError("mlx_missing", "The adapter has no tensors.");
  return [...matrices].flatMap(([module, plan]) => {
    const own = found.get(module);
    return own === undefined ? [] : [toPair(module, plan, own, kind)];
  });
}

/** Vision models wrap the language model, in one of two orders. */
function withoutWrapper(path: string): string {
  return path
    .replace(/^language_model\.(?=model\.|lm_head)/, "")
    .replace(/^model\.language_model\./, "model.");
}

function foreign(name: string): MlxError {
  const isEmbedding = name.includes("lora_embedding_");
  const what = isEmbedding ? "it changes token embeddings" : "it is no pair of matrices";
  return new MlxError("mlx_unsupported", `The tensor ${name} of the adapter cannot be converted: ${what}.`);
}

function toPair(
  module: string,
  plan: TensorPlan,
  own: ReadonlyMap<string, FolderTensor>,
  kind: AdapterSettings["kind"],
): AdapterPair {
  const side = (letter: "a" | "b"): AdapterMatrix => {
    const tensor = own.get(letter);
    if (tensor === undefined)
      throw new MlxError("mlx_missing", `The adapter's ${module} lacks its matrix ${letter.toUpperCase()}.`);
    return toMatrix(tensor, kind === "mlx");
  };
  const a = side("a");
  const b = side("b");
  const [columns, rows] = plan.shape;
  const rank = a.rows;
  if (a.columns !== columns || b.rows !== rows || b.columns !== rank || rank === 0) {
    const shapes = `${a.rows} x ${a.columns} and ${b.rows} x ${b.columns}`;
    throw new MlxError(
      "mlx_mismatch",
      `Its matrices for ${module}, ${shapes}, do not fit the model's ${rows} x ${columns}.`,
    );
  }
  return { module, plan, rank, a, b };
}

function toMatrix(tensor: FolderTensor, isTransposed: boolean): AdapterMatrix {
  const { name, dtype, shape, sizeBytes } = tensor;
  const [first, second] = shape;
  if (!isFloatType(dtype) || shape.length !== 2 || first === undefined || second === undefined) {
    const message = `The tensor ${name} is no matrix of the type F16, BF16 or F32.`;
    throw new MlxError("mlx_unsupported", message);
  }
  if (sizeBytes > TENSOR_BYTES_MAX)
    throw new MlxError(
      "mlx_limit",
      `The tensor ${name} has ${sizeBytes} bytes; at most ${TENSOR_BYTES_MAX} are allowed.`,
    );
  const [rows, columns] = isTransposed ? [second, first] : [first, second];
  return { tensor, dtype, rows, columns, isTransposed };
}
