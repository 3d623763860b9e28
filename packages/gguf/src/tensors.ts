// The list of tensors in a GGUF header: its entries, their sizes by ggml's tensor types, and whether they all fit into
// the file.
import type { Cursor } from "./cursor.ts";
import { GgufError } from "./errors.ts";
import { TENSOR_DIMENSIONS_MAX, TENSOR_NAME_BYTES_MAX } from "./format.ts";

export interface TensorType {
  name: string;
  /** Elements of a row that are stored together. */
  blockElements: number;
  blockBytes: number;
}

const row = (name: string, blockElements: number, blockBytes: number): TensorType => ({
  name,
  blockElements,
  blockBytes,
});

/** ggml's tensor types by number. Missing numbers were retired by ggml or are newer than this table. */
export const tensorTypes: ReadonlyMap<number, TensorType> = new Map([
  [0, row("F32", 1, 4)],
  [1, row("F16", 1, 2)],
  [2, row("Q4_0", 32, 18)],
  [3, row("Q4_1", 32, 20)],
  [6, row("Q5_0", 32, 22)],
  [7, row("Q5_1", 32, 24)],
  [8, row("Q8_0", 32, 34)],
  [9, row("Q8_1", 32, 36)],
  [10, row("Q2_K", 256, 84)],
  [11, row("Q3_K", 256, 110)],
  [12, row("Q4_K", 256, 144)],
  [13, row("Q5_K", 256, 176)],
  [14, row("Q6_K", 256, 210)],
  [15, row("Q8_K", 256, 292)],
  [16, row("IQ2_XXS", 256, 66)],
  [17, row("IQ2_XS", 256, 74)],
  [18, row("IQ3_XXS", 256, 98)],
  [19, row("IQ1_S", 256, 50)],
  [20, row("IQ4_NL", 32, 18)],
  [21, row("IQ3_S", 256, 110)],
  [22, row("IQ2_S", 256, 82)],
  [23, row("IQ4_XS", 256, 136)],
  [24, row("I8", 1, 1)],
  [25, row("I16", 1, 2)],
  [26, row("I32", 1, 4)],
  [27, row("I64", 1, 8)],
  [28, row("F64", 1, 8)],
  [29, row("IQ1_M", 256, 56)],
  [30, row("BF16", 1, 2)],
  [34, row("TQ1_0", 256, 54)],
  [35, row("TQ2_0", 256, 66)],
  [39, row("MXFP4", 32, 17)],
  [40, row("NVFP4", 64, 36)],
  [41, row("Q1_0", 128, 18)],
  [42, row("Q2_0", 64, 18)],
]);

/** One entry of the list of tensors. */
export interface GgufTensorInfo {
  name: string;
  /** ggml's number of the type: 0 is F32, 1 is F16. */
  typeCode: number;
  /** Sizes in ggml's order: the row length first. */
  shape: readonly number[];
  /** Where the data starts, in bytes from the aligned end of the header. */
  offset: number;
  /** Bytes of the data, without padding. */
  sizeBytes: number;
}

/** Reads `count` entries. Throws `GgufError` for an entry that is wrong by itself or that repeats a name. */
export function readTensors(cursor: Cursor, count: number, alignment: number): GgufTensorInfo[] {
  const names = new Set<string>();
  return Array.from({ length: count }, () => {
    const tensor = readTensor(cursor);
    if (names.has(tensor.name)) throw malformed(`The tensor ${tensor.name} occurs twice.`);
    names.add(tensor.name);
    if (tensor.offset % alignment !== 0) {
      throw malformed(
        `Tensor ${tensor.name} starts at ${tensor.offset}, which is not a multiple of ${alignment}.`,
      );
    }
    return tensor;
  });
}

/** Throws if two tensors overlap, or if one ends after the `dataBytes` that follow the header. */
export function checkOffsets(tensors: readonly GgufTensorInfo[], dataBytes: number | undefined): void {
  let end = 0;
  let before = "";
  for (const { name, offset, sizeBytes } of tensors.toSorted((a, b) => a.offset - b.offset)) {
    if (sizeBytes === 0) continue;
    if (offset < end) throw malformed(`The tensors ${before} and ${name} overlap.`);
    end = offset + sizeBytes;
    before = name;
  }
  if (dataBytes !== undefined && end > dataBytes) {
    const message = `The file ends before its tensor ${before}: ${end - dataBytes} bytes are missing.`;
    throw new GgufError("gguf_truncated", message);
  }
}

function readTensor(cursor: Cursor): GgufTensorInfo {
  const name = cursor.string(TENSOR_NAME_BYTES_MAX);
  const dimensions = cursor.uint32();
  if (dimensions > TENSOR_DIMENSIONS_MAX) {
    throw malformed(
      `Tensor ${name} has ${dimensions} dimensions; at most ${TENSOR_DIMENSIONS_MAX} are possible.`,
    );
  }
  const shape = Array.from({ length: dimensions }, () =>
    cursor.count("elements in a tensor's dimension", Number.MAX_SAFE_INTEGER),
  );
  const typeCode = cursor.uint32();
  const offset = cursor.count("bytes of tensor data", Number.MAX_SAFE_INTEGER);
  const sizeBytes = tensorDataBytes(name, typeCode, shape);
  if (!Number.isSafeInteger(offset + sizeBytes)) throw malformed(`Tensor ${name} ends beyond 2^53 bytes.`);
  return { name, typeCode, shape, offset, sizeBytes };
}

/** Bytes of a tensor's data, without padding. Throws `gguf_malformed` for an unknown type or an impossible shape. */
export function tensorDataBytes(name: string, typeCode: number, shape: readonly number[]): number {
  const type = tensorTypes.get(typeCode);
  if (type === undefined) throw malformed(`Tensor ${name} has the unknown type ${typeCode}.`);
  const [rowElements = 1] = shape;
  if (rowElements % type.blockElements !== 0) {
    throw malformed(
      `Tensor ${name} has rows of ${rowElements} elements; ${type.name} needs a multiple of ${type.blockElements}.`,
    );
  }
  // A floating-point product that is not exact is at least as large as the largest safe integer.
  const elements = shape.reduce((product, size) => product * size, 1);
  const bytes = (elements / type.blockElements) * type.blockBytes;
  if (!Number.isSafeInteger(elements) || !Number.isSafeInteger(bytes))
    throw malformed(`Tensor ${name} is larger than 2^53 bytes.`);
  return bytes;
}

function malformed(message: string): GgufError {
  return new GgufError("gguf_malformed", message);
}
