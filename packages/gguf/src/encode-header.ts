// Encodes the header of a GGUF file, version 3: the metadata and the list of tensors. Its size depends only on names,
// values and the number of dimensions, not on the tensors' types or offsets.
import { GgufError } from "./errors.ts";
import {
  aligned,
  ARRAY_CODE,
  bigintCodecs,
  boolCodec,
  GGUF_MAGIC,
  GGUF_VERSION,
  numberCodecs,
  STRING_CODE,
  TENSOR_DIMENSIONS_MAX,
  TENSOR_NAME_BYTES_MAX,
  toDataView,
} from "./format.ts";
import type { Codec, GgufMetadata, GgufValue } from "./format.ts";
import { tensorDataBytes } from "./tensors.ts";

/** A tensor's entry in the list. The data follows in the order of the list. */
export interface GgufTensorHead {
  name: string;
  /** ggml's number of the type: 0 is F32, 1 is F16. */
  typeCode: number;
  /** Sizes in ggml's order: the row length first. */
  shape: readonly number[];
}

/**
 * Everything before the tensor data, padded to the alignment when tensors follow. Throws `GgufError` with code
 * `gguf_unwritable` for an empty key, a value that does not fit its type, and a bad tensor name or shape.
 */
export function encodeGgufHeader(metadata: GgufMetadata, tensors: readonly GgufTensorHead[]): Buffer {
  const start = Buffer.alloc(24);
  start.write(GGUF_MAGIC, "latin1");
  start.writeUInt32LE(GGUF_VERSION, 4);
  start.writeBigUInt64LE(BigInt(tensors.length), 8);
  start.writeBigUInt64LE(BigInt(metadata.size), 16);

  const pieces: Buffer[] = [start];
  for (const [key, value] of metadata) pieces.push(encodeStrings([key]), encodeValue(key, value));
  pieces.push(...encodeTensorList(tensors));
  const header = Buffer.concat(pieces);
  const padding = tensors.length === 0 ? 0 : aligned(header.length) - header.length;
  return Buffer.concat([header, Buffer.alloc(padding)]);
}

function encodeValue(key: string, value: GgufValue): Buffer {
  if (key === "") throw new GgufError("gguf_unwritable", "A GGUF metadata key must not be empty.");
  switch (value.type) {
    case "string":
      return Buffer.concat([encodeType(STRING_CODE, value), encodeStrings(toItems(value))]);
    case "bool":
      return encodeFixed(key, boolCodec, value);
    case "uint64":
    case "int64":
      return encodeFixed(key, bigintCodecs[value.type], value);
    default:
      return encodeFixed(key, numberCodecs[value.type], value);
  }
}

type OneOrMany<T> = { value: T } | { values: readonly T[] };

function toItems<T>(value: OneOrMany<T>): readonly T[] {
  return "values" in value ? value.values : [value.value];
}

function encodeType<T>(code: number, value: OneOrMany<T>): Buffer {
  const isArray = "values" in value;
  const type = Buffer.alloc(isArray ? 16 : 4);
  type.writeUInt32LE(isArray ? ARRAY_CODE : code);
  if (isArray) {
    type.writeUInt32LE(code, 4);
    type.writeBigUInt64LE(BigInt(value.values.length), 8);
  }
  return type;
}

function encodeFixed<T>(key: string, codec: Codec<T>, value: OneOrMany<T> & { type: string }): Buffer {
  const items = toItems(value);
  const bytes = Buffer.alloc(items.length * codec.bytes);
  const view = toDataView(bytes);
  for (const [index, item] of items.entries()) {
    codec.write(view, index * codec.bytes, item);
    // A DataView wraps values that do not fit: check that the same value comes back.
    if (!codec.rounds && codec.read(view, index * codec.bytes) !== item) {
      throw new GgufError(
        "gguf_unwritable",
        `GGUF key ${key}: ${String(item)} does not fit into ${value.type}.`,
      );
    }
  }
  return Buffer.concat([encodeType(codec.code, value), bytes]);
}

function encodeStrings(texts: readonly string[]): Buffer {
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const bytes = Buffer.alloc(lengths.reduce((sum, length) => sum + 8 + length, 0));
  let at = 0;
  for (const [index, text] of texts.entries()) {
    const length = lengths[index] ?? 0;
    bytes.writeBigUInt64LE(BigInt(length), at);
    bytes.write(text, at + 8);
    at += 8 + length;
  }
  return bytes;
}

function encodeTensorList(tensors: readonly GgufTensorHead[]): Buffer[] {
  const names = new Set<string>();
  let offset = 0;
  return tensors.map((tensor) => {
    checkTensor(tensor, names);
    const info = Buffer.alloc(4 + 8 * tensor.shape.length + 12);
    info.writeUInt32LE(tensor.shape.length);
    for (const [index, size] of tensor.shape.entries()) info.writeBigUInt64LE(BigInt(size), 4 + 8 * index);
    info.writeUInt32LE(tensor.typeCode, info.length - 12);
    info.writeBigUInt64LE(BigInt(offset), info.length - 8);
    offset += aligned(tensorDataBytes(tensor.name, tensor.typeCode, tensor.shape));
    return Buffer.concat([encodeStrings([tensor.name]), info]);
  });
}

function checkTensor(tensor: GgufTensorHead, names: Set<string>): void {
  const nameBytes = Buffer.byteLength(tensor.name);
  if (nameBytes === 0 || nameBytes > TENSOR_NAME_BYTES_MAX || names.has(tensor.name)) {
    throw new GgufError(
      "gguf_unwritable",
      `Tensor name "${tensor.name}" must be unique and 1 to ${TENSOR_NAME_BYTES_MAX} bytes long.`,
    );
  }
  names.add(tensor.name);
  const isShape = tensor.shape.length >= 1 && tensor.shape.length <= TENSOR_DIMENSIONS_MAX;
  if (!isShape || !tensor.shape.every((size) => Number.isSafeInteger(size) && size > 0)) {
    throw new GgufError(
      "gguf_unwritable",
      `Tensor ${tensor.name} must have one to ${TENSOR_DIMENSIONS_MAX} dimensions, each at least 1.`,
    );
  }
}
