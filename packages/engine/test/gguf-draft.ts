// Takes a GGUF file apart into editable parts and writes it again, valid or not: for mutants.ts. It has its own reader, so that it is
// independent of the reader under test.

/** GGUF's numbers of its value types, and their sizes in bytes; strings and arrays have their own lengths. */
export const valueBytes: Record<number, number> = {
  0: 1,
  1: 1,
  2: 2,
  3: 2,
  4: 4,
  5: 4,
  6: 4,
  7: 1,
  10: 8,
  11: 8,
  12: 8,
};
export const stringType = 8;
export const arrayType = 9;
const alignment = 32;

/** A metadata value in pieces: one item, or the items of an array. Strings are without their lengths. */
export interface DraftValue {
  type: number;
  /** The type of an array's items. */
  itemType?: number;
  items: readonly Buffer[];
}

export interface DraftEntry {
  key: string;
  /** Type and value as they are stored in the file. */
  bytes: Buffer;
}

export interface DraftTensor {
  name: string;
  shape: readonly bigint[];
  type: number;
  data: Buffer;
  /** Overrides the offset that follows from the preceding tensors. */
  offset?: bigint;
}

/** Immutable: a mutation returns a new draft. */
export interface Draft {
  entries: readonly DraftEntry[];
  tensors: readonly DraftTensor[];
  /** Overrides the numbers of entries and tensors. */
  entryCount?: bigint;
  tensorCount?: bigint;
}

class Reader {
  readonly file: Buffer;
  at = 0;

  constructor(file: Buffer) {
    this.file = file;
  }

  uint32(): number {
    this.at += 4;
    return this.file.readUInt32LE(this.at - 4);
  }

  uint64(): bigint {
    this.at += 8;
    return this.file.readBigUInt64LE(this.at - 8);
  }

  take(length: number): Buffer {
    this.at += length;
    return this.file.subarray(this.at - length, this.at);
  }

  text(): Buffer {
    return this.take(Number(this.uint64()));
  }

  item(type: number): Buffer {
    return type === stringType ? this.text() : this.take(valueBytes[type] ?? 0);
  }
}

/** Takes a file apart. */
export function takeApart(file: Buffer): Draft {
  const reader = new Reader(file);
  reader.at = 8;
  const tensorCount = Number(reader.uint64());
  const entryCount = Number(reader.uint64());
  const entries = Array.from({ length: entryCount }, (): DraftEntry => {
    const key = reader.text().toString();
    const start = reader.at;
    readValue(reader);
    return { key, bytes: file.subarray(start, reader.at) };
  });
  const heads = Array.from({ length: tensorCount }, () => {
    const name = reader.text().toString();
    const shape = Array.from({ length: reader.uint32() }, () => reader.uint64());
    return { name, shape, type: reader.uint32(), offset: Number(reader.uint64()) };
  });
  const dataAt = padded(reader.at);
  const ends = heads.map(({ offset }) => offset).concat(file.length - dataAt);
  const tensors = heads.map(({ name, shape, type, offset }, index) => {
    const data = file.subarray(dataAt + offset, dataAt + (ends[index + 1] ?? 0));
    return { name, shape, type, data };
  });
  return { entries, tensors };
}

function readValue(reader: Reader): DraftValue {
  const type = reader.uint32();
  if (type !== arrayType) return { type, items: [reader.item(type)] };
  const itemType = reader.uint32();
  const length = Number(reader.uint64());
  return { type, itemType, items: Array.from({ length }, () => reader.item(itemType)) };
}

export function decodeValue(bytes: Buffer): DraftValue {
  return readValue(new Reader(bytes));
}

export function encodeValue({ type, itemType, items }: DraftValue): Buffer {
  const encode = (item: Buffer, itsType: number): Buffer[] =>
    itsType === stringType ? [uint64(BigInt(item.length)), item] : [item];
  if (type !== arrayType)
    return Buffer.concat([uint32(type), ...items.flatMap((item) => encode(item, type))]);
  const ofItems = itemType ?? 0;
  const head = [uint32(type), uint32(ofItems), uint64(BigInt(items.length))];
  return Buffer.concat([...head, ...items.flatMap((item) => encode(item, ofItems))]);
}

/** The file, and the end of its header. */
export function putTogether(draft: Draft): { file: Buffer; headerBytes: number } {
  const { entries, tensors, entryCount, tensorCount } = draft;
  const pieces: Buffer[] = [
    Buffer.from("GGUF\x03\0\0\0", "latin1"),
    uint64(tensorCount ?? BigInt(tensors.length)),
    uint64(entryCount ?? BigInt(entries.length)),
    ...entries.flatMap(({ key, bytes }) => [...encodeText(key), bytes]),
  ];
  let place = 0;
  for (const { name, shape, type, data, offset } of tensors) {
    pieces.push(...encodeText(name), uint32(shape.length), ...shape.map(uint64), uint32(type));
    pieces.push(uint64(offset ?? BigInt(place)));
    place += padded(data.length);
  }
  const header = Buffer.concat(pieces);
  const body: Buffer[] = [Buffer.alloc(padded(header.length) - header.length)];
  for (const { data } of tensors) body.push(data, Buffer.alloc(padded(data.length) - data.length));
  return { file: Buffer.concat([header, ...body]), headerBytes: header.length };
}

function encodeText(text: string): Buffer[] {
  const bytes = Buffer.from(text);
  return [uint64(BigInt(bytes.length)), bytes];
}

function padded(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

export function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, value));
  return bytes;
}
