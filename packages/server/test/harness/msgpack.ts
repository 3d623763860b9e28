// Reads MessagePack (msgpack.org's specification), for tests of KV-cache events. Integers of 8 bytes become bigints.

export function readMessagePack(bytes: Buffer): unknown {
  const reader = new Reader(bytes);
  const value = reader.value();
  if (!reader.isAtEnd) throw new Error("Data follows the value.");
  return value;
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  value(): unknown {
    const type = this.#unsigned(1);
    if (type < 0x80) return type;
    if (type >= 0x90 && type < 0xa0) return this.#array(type - 0x90);
    if (type >= 0xa0 && type < 0xc0) return this.#text(type - 0xa0);
    switch (type) {
      case 0xc0:
        return null;
      case 0xcb:
        this.#at += 8;
        return this.#bytes.readDoubleBE(this.#at - 8);
      case 0xcc:
        return this.#unsigned(1);
      case 0xcd:
        return this.#unsigned(2);
      case 0xce:
        return this.#unsigned(4);
      case 0xcf:
        this.#at += 8;
        return this.#bytes.readBigUInt64BE(this.#at - 8);
      case 0xdc:
        return this.#array(this.#unsigned(2));
      case 0xdd:
        return this.#array(this.#unsigned(4));
      default:
        throw new Error(`0x${type.toString(16)} is unexpected.`);
    }
  }

  #unsigned(bytes: number): number {
    this.#at += bytes;
    return this.#bytes.readUIntBE(this.#at - bytes, bytes);
  }

  #array(length: number): unknown[] {
    return Array.from({ length }, () => this.value());
  }

  #text(length: number): string {
    this.#at += length;
    return this.#bytes.toString("utf8", this.#at - length, this.#at);
  }
}
