// Reads a header's bytes from front to back, and never past the end.
import { isUtf8 } from "node:buffer";

import { GgufError } from "./errors.ts";
import { bigintCodecs, numberCodecs, toDataView } from "./format.ts";
import type { Codec } from "./format.ts";

export class Cursor {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = toDataView(bytes);
  }

  take(length: number): Buffer {
    this.need(length);
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }

  need(length: number): void {
    if (length > this.#bytes.length - this.at) {
      throw new GgufError(
        "gguf_truncated",
        `The file ends within its header: ${length} bytes were expected at byte ${this.at}.`,
      );
    }
  }

  fixed<T>(codec: Codec<T>): T {
    this.need(codec.bytes);
    this.at += codec.bytes;
    return codec.read(this.#view, this.at - codec.bytes);
  }

  uint32(): number {
    return this.fixed(numberCodecs.uint32);
  }

  /** A uint64 that counts things, at most `max` of them. */
  count(what: string, max: number): number {
    const value = this.fixed(bigintCodecs.uint64);
    if (value > BigInt(max))
      throw new GgufError("gguf_limit", `The header claims ${value} ${what}; at most ${max} are allowed.`);
    return Number(value);
  }

  /** Skips a string of at most `bytesMax` bytes. Lists hold half a million, so its length is read without BigInt. */
  skipString(bytesMax: number): void {
    this.need(8);
    const length = this.#view.getUint32(this.at, true) + this.#view.getUint32(this.at + 4, true) * 2 ** 32;
    if (length > bytesMax)
      throw new GgufError("gguf_limit", `A string has ${length} bytes; at most ${bytesMax} are allowed.`);
    this.need(8 + length);
    this.at += 8 + length;
  }

  /** A string of at most `bytesMax` bytes. Invalid UTF-8 is an error, or replaced if `isLenient`. */
  string(bytesMax: number, isLenient = false): string {
    const bytes = this.take(this.count("bytes in a string", bytesMax));
    if (!isLenient && !isUtf8(bytes))
      throw new GgufError("gguf_malformed", `The string that ends at byte ${this.at} is not valid UTF-8.`);
    return bytes.toString("utf8");
  }
}
