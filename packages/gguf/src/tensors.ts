// The list of tensors in a GGUF header: each entry, and whether they can all lie in the file as the list says. Used by
// header.ts.
import type { Cursor } from "./cursor.ts";
import { GgufError } from "./errors.ts";
import { TENSOR_DIMENSIONS_MAX, TENSOR_NAME_BYTES_MAX } from "./format.ts";
import { tensorTypes } from "./tensor-types.ts";

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

/** Reads `count` entries. Throws GgufError for one that no file can have, whatever the others are. */
export function readTensors(cursor: Cursor, count: number, alignment: number): GgufTensorInfo[] {
  const names = new Set<string>();
  return Array.from({ length: count }, () => {
    const tensor = readTensor(cursor);
    if (names.has(tensor.name)) throw malformed(`The tensor ${tensor.name} occurs twice.`);
    names.add(tensor.name);
    if (tensor.offset % alignment !== 0) {
      throw malformed(`Tensor ${tensor.name} starts at ${tensor.offset}, no multiple of ${alignment}.`);
    }
    return tensor;
  });
}

/** Throws when two tensors share bytes, or when one ends behind the `dataBytes` that follow the header. */
export function checkPlaces(tensors: readonly GgufTensorInfo[], dataBytes: number | undefined): void {
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
      `Tensor ${name} has ${dimensions} dimensions; ${TENSOR_DIMENSIONS_MAX} are the most that are possible.`,
    );
  }
  const shape = Array.from({ length: dimensions }, () =>
    cursor.count("elements in a row of tensors", Number.MAX_SAFE_INTEGER),
  );
  const typeCode = cursor.uint32();
  const offset = cursor.count("bytes of tensor data", Number.MAX_SAFE_INTEGER);
  const sizeBytes = sizeOf(name, typeCode, shape);
  if (!Number.isSafeInteger(offset + sizeBytes)) throw malformed(`Tensor ${name} ends beyond any file.`);
  return { name, typeCode, shape, offset, sizeBytes };
}

/** Bytes of a tensor's data, without padding. Throws `gguf_malformed` for a type or a shape that none can have. */
export function sizeOf(name: string, typeCode: number, shape: readonly number[]): number {
  const type = tensorTypes.get(typeCode);
  if (type === undefined) throw malformed(`Tensor ${name} has the type ${typeCode}, which is not known.`);
  const [rowElements = 1] = shape;
  if (rowElements % type.blockElements !== 0) {
    throw malformed(
      `Tensor ${name} has rows of ${rowElements} elements, no multiple of ${type.blockElements} as ${type.name} needs.`,
    );
  }
  // In floating point a product that is not exact is at least as large as the largest exact integer.
  const elements = shape.reduce((product, size) => product * size, 1);
  const bytes = (elements / type.blockElements) * type.blockBytes;
  if (!Number.isSafeInteger(elements) || !Number.isSafeInteger(bytes))
    throw malformed(`Tensor ${name} is larger than any file.`);
  return bytes;
}

function malformed(message: string): GgufError {
  return new GgufError("gguf_malformed", message);
}
