// Ways to damage the header of a GGUF file: the corpus of damaged-headers.model.test.ts and damaged-projectors.model.test.ts.
// Has its own reader, so that it is independent of the reader under test.
import { arrayType, stringType, valueBytes } from "./gguf-draft.ts";

/** Bytes to overwrite at an offset, or the length to truncate the file to. */
export type Damage = { at: number; hex: string } | { length: number };

/** One in so many: a prime number, so that all kinds of damages occur. INGLE_TEST_EVERY=1 takes all, INGLE_TEST_EVERY=n one in n. */
export function oneIn<T>(every: number, all: readonly T[]): T[] {
  const chosen = Number(process.env["INGLE_TEST_EVERY"] ?? every);
  return all.filter((_, index) => index % chosen === 0);
}

interface Field {
  at: number;
  bytes: number;
}

/** How many items of a list are damaged: the others are read by the same code. */
const itemsMax = 3;

/** The part of a tensor's entry after its name. */
interface TensorEntry {
  at: number;
  dimensions: number;
}

interface Header {
  /** The position of every number: counts, lengths, types, values, sizes and offsets. The last field ends the header. */
  fields: Field[];
  tensors: TensorEntry[];
}

function listFields(file: Buffer): Field[] {
  return readHeader(file).fields;
}

function readHeader(file: Buffer): Header {
  const fields: Field[] = [];
  const entries: TensorEntry[] = [];
  let at = 4;
  const number = (bytes: number, isNoted = true): number => {
    const value = bytes === 8 ? Number(file.readBigUInt64LE(at)) : file.readUIntLE(at, bytes);
    if (isNoted) fields.push({ at, bytes });
    at += bytes;
    return value;
  };
  const one = (type: number, isNoted = true): void => {
    if (type !== stringType) {
      number(valueBytes[type] ?? 0, isNoted);
      return;
    }
    const length = number(8, isNoted);
    at += length;
  };
  number(4);
  const tensors = number(8);
  const keys = number(8);
  for (let key = 0; key < keys; key++) {
    one(stringType);
    const type = number(4);
    if (type !== arrayType) {
      one(type);
      continue;
    }
    const itemType = number(4);
    const items = number(8);
    for (let item = 0; item < items; item++) one(itemType, item < itemsMax);
  }
  for (let tensor = 0; tensor < tensors; tensor++) {
    one(stringType);
    const start = at;
    const dimensions = number(4);
    entries.push({ at: start, dimensions });
    for (let dimension = 0; dimension < dimensions; dimension++) number(8);
    number(4);
    number(8);
  }
  return { fields, tensors: entries };
}

/** Numbers that damage a file: zero, small numbers, the limits of every integer type, NaN and infinities. */
const extremes = [
  0n,
  1n,
  7n,
  2n ** 16n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 63n - 1n,
  2n ** 64n - 1n,
];
const floats = [Number.NaN, Number.POSITIVE_INFINITY, -1, 1e38];

/** Every field with extreme values. */
export function extremeFields(file: Buffer): Damage[] {
  return listFields(file).flatMap(({ at, bytes }) => {
    const integers = extremes.map((value) => {
      const eight = Buffer.alloc(8);
      eight.writeBigUInt64LE(value);
      return eight.subarray(0, bytes);
    });
    const fractions = floats.map((value) => {
      const four = Buffer.alloc(4);
      four.writeFloatLE(value);
      return four;
    });
    const all = bytes === 4 ? [...integers, ...fractions] : integers;
    return all.map((value) => ({ at, hex: value.toString("hex") }));
  });
}

/** Every byte of the header, with one bit or all bits flipped. */
export function flippedBytes(file: Buffer): Damage[] {
  const masks = [0x01, 0xff, 0x80];
  return Array.from({ length: headerEnd(file) }, (_, at) => {
    const byte = (file[at] ?? 0) ^ (masks[at % masks.length] ?? 0);
    return { at, hex: Buffer.of(byte).toString("hex") };
  });
}

/** The file truncated at the start of every field, and within its weights. */
export function truncations(file: Buffer): Damage[] {
  const weights = file.length - headerEnd(file);
  const within = [0, 1, weights / 2, weights - 1].map((bytes) => headerEnd(file) + Math.floor(bytes));
  return [0, ...listFields(file).map(({ at }) => at), ...within].map((length) => ({ length }));
}

/** Types of ggml, and how many of their values take as many bytes as one 32-bit float. */
const sameBytes = [
  { type: 0, perFloat: 1 }, // f32
  { type: 26, perFloat: 1 }, // i32
  { type: 1, perFloat: 2 }, // f16
  { type: 30, perFloat: 2 }, // bf16
  { type: 24, perFloat: 4 }, // i8
  { type: 28, perFloat: 0.5 }, // f64
];

/** Every tensor of 32-bit floats in other shapes and types of the same size. */
export function oddShapes(file: Buffer): Damage[] {
  return readHeader(file).tensors.flatMap(({ at, dimensions }) => {
    const shape = Array.from({ length: dimensions }, (_, side) =>
      Number(file.readBigUInt64LE(at + 4 + 8 * side)),
    );
    const elements = shape.reduce((product, side) => product * side, 1);
    const flat = shape.map(() => 1);
    const shapes = [shape.toReversed(), [elements, ...flat.slice(1)], [...flat.slice(1), elements]];
    const [first = 1, second = 1, ...rest] = shape;
    if (dimensions > 1) shapes.push([first * 2, second / 2, ...rest], [first / 2, second * 2, ...rest]);
    return sameBytes.flatMap(({ type, perFloat }) =>
      [shape, ...shapes]
        .map(([side = 1, ...others]) => [side * perFloat, ...others])
        .filter((sides) => type !== 0 || String(sides) !== String(shape))
        .filter((sides) => sides.every(Number.isInteger))
        .map((sides) => ({ at: at + 4, hex: shapeAndType(sides, type).toString("hex") })),
    );
  });
}

function shapeAndType(shape: readonly number[], type: number): Buffer {
  const bytes = Buffer.alloc(8 * shape.length + 4);
  for (const [side, length] of shape.entries()) bytes.writeBigUInt64LE(BigInt(length), 8 * side);
  bytes.writeUInt32LE(type, 8 * shape.length);
  return bytes;
}

function headerEnd(file: Buffer): number {
  const last = listFields(file).at(-1);
  return last === undefined ? 0 : last.at + last.bytes;
}
