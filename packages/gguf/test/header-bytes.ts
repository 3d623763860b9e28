// Writes a GGUF header field by field and records where each one is, so that tests can damage any of them. It writes any values,
// valid or not.

/** A number in the header: a count, a length, a type, an offset. */
export interface Field {
  name: string;
  at: number;
  bytes: 4 | 8;
}

export class HeaderBytes {
  readonly fields: Field[] = [];
  readonly #pieces: Buffer[] = [];
  #length = 0;

  get bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  raw(bytes: Uint8Array): this {
    this.#pieces.push(Buffer.from(bytes));
    this.#length += bytes.length;
    return this;
  }

  uint32(name: string, value: number): this {
    this.fields.push({ name, at: this.#length, bytes: 4 });
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return this.raw(bytes);
  }

  uint64(name: string, value: number): this {
    this.fields.push({ name, at: this.#length, bytes: 8 });
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(value));
    return this.raw(bytes);
  }

  text(name: string, value: string): this {
    return this.uint64(`${name}'s length`, Buffer.byteLength(value)).raw(Buffer.from(value));
  }

  start(tensors: number, keys: number): this {
    return this.raw(Buffer.from("GGUF"))
      .uint32("version", 3)
      .uint64("tensor count", tensors)
      .uint64("key count", keys);
  }

  tensor(name: string, options: { shape: number[]; type: number; offset: number }): this {
    this.text(name, name).uint32(`${name}'s dimensions`, options.shape.length);
    for (const [index, size] of options.shape.entries()) this.uint64(`${name}'s size ${index}`, size);
    return this.uint32(`${name}'s type`, options.type).uint64(`${name}'s offset`, options.offset);
  }
}

/** A header with a key of every kind and two tensors of 64 and 68 bytes of data: most tests damage it. */
export function sampleHeader(): HeaderBytes {
  const header = new HeaderBytes().start(2, 7);
  header.text("key", "general.architecture").uint32("string type", 8).text("value", "lfm2");
  header.text("key", "general.alignment").uint32("uint32 type", 4).uint32("alignment", 32);
  header.text("key", "name").uint32("string type", 8).text("value", "Größe");
  header.text("key", "flag").uint32("bool type", 7).raw(Buffer.of(1));
  header.text("key", "wide").uint32("uint64 type", 10).uint64("uint64", 7);
  header.text("key", "list").uint32("array type", 9).uint32("item type", 8).uint64("item count", 3);
  header.text("item", "a").text("item", "").text("item", "bc");
  header.text("key", "numbers").uint32("array type", 9).uint32("item type", 4).uint64("item count", 3);
  header.uint32("item", 1).uint32("item", 2).uint32("item", 3);
  header.tensor("first", { shape: [16], type: 0, offset: 0 });
  return header.tensor("second", { shape: [32, 2], type: 8, offset: 64 });
}
