// A place in the bytes of a header that only moves forward and never past the end. Used by header.ts and tensors.ts.
import { isUtf8 } from "node:buffer";

import { GgufError } from "./errors.ts";
import { bigintCodecs, numberCodecs, viewOf } from "./format.ts";
import type { Codec } from "./format.ts";

export class Cursor {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = viewOf(bytes);
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
        `The file ends within its header: ${length} bytes are missing at ${this.at}.`,
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
      throw new GgufError("gguf_limit", `${value} ${what} are more than the ${max} allowed.`);
    return Number(value);
  }

  /** Goes on behind a string of at most `bytesMax` bytes. Lists have half a million of them: its length is read without BigInt. */
  passString(bytesMax: number): void {
    this.need(8);
    const length = this.#view.getUint32(this.at, true) + this.#view.getUint32(this.at + 4, true) * 2 ** 32;
    if (length > bytesMax)
      throw new GgufError("gguf_limit", `${length} bytes in a string are more than the ${bytesMax} allowed.`);
    this.need(8 + length);
    this.at += 8 + length;
  }

  /** A string of at most `bytesMax` bytes. Bytes that are not UTF-8 are refused, or replaced where `isLenient`. */
  string(bytesMax: number, isLenient = false): string {
    const bytes = this.take(this.count("bytes in a string", bytesMax));
    if (!isLenient && !isUtf8(bytes))
      throw new GgufError("gguf_malformed", `The string that ends at byte ${this.at} is not UTF-8.`);
    return bytes.toString("utf8");
  }
}
