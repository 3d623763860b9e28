// Writes GGUF files, version 3, tensor by tensor, so that a file may be larger than memory.
import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";

import { encodeGgufHeader, type GgufTensorHead } from "./encode-header.ts";
import { GgufError } from "./errors.ts";
import { aligned, type GgufMetadata } from "./format.ts";
import { tensorDataBytes } from "./tensors.ts";

/** A tensor's data in order, in pieces of any length. */
export type GgufPieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** A tensor to write; `pieces` is called once, when the tensor is written. */
export interface GgufTensorData extends GgufTensorHead {
  pieces: () => GgufPieces;
}

/**
 * Writes a GGUF file. It is written under a unique name that ends in `.part` and renamed once it is complete.
 * Throws `GgufError` with code `gguf_unwritable`, file system errors and the signal's reason; nothing is left behind then.
 */
export async function writeGguf(
  path: string,
  { metadata, tensors = [] }: { metadata: GgufMetadata; tensors?: readonly GgufTensorData[] },
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<void> {
  signal?.throwIfAborted();
  await using writer = await GgufWriter.open(path, { metadata, tensors });
  for (const tensor of tensors) await writer.add(tensor.typeCode, tensor.pieces(), { signal });
  await writer.finish(metadata);
}

/**
 * A GGUF file that is written tensor by tensor, in the order of `tensors`. The header is written last, into the space kept
 * for it: types may differ from what was planned, and metadata values too as long as their size stays the same.
 * Disposing before `finish()` removes the file.
 */
export class GgufWriter implements AsyncDisposable {
  readonly #path: string;
  readonly #part: string;
  readonly #file: FileHandle;
  readonly #planned: readonly GgufTensorHead[];
  readonly #written: GgufTensorHead[] = [];
  readonly #headerBytes: number;
  /** Where the next tensor starts, in bytes from the start of the file. */
  #end: number;
  #isFinished = false;

  private constructor(
    path: string,
    part: string,
    file: FileHandle,
    planned: readonly GgufTensorHead[],
    headerBytes: number,
  ) {
    this.#path = path;
    this.#part = part;
    this.#file = file;
    this.#planned = planned;
    this.#headerBytes = headerBytes;
    this.#end = headerBytes;
  }

  /** Throws `GgufError` with code `gguf_unwritable`, and file system errors. */
  static async open(
    path: string,
    { metadata, tensors }: { metadata: GgufMetadata; tensors: readonly GgufTensorHead[] },
  ): Promise<GgufWriter> {
    const { length } = encodeGgufHeader(metadata, tensors);
    const part = `${path}.${randomUUID()}.part`;
    return new GgufWriter(path, part, await open(part, "wx"), tensors, length);
  }

  /** Writes the next tensor's data in this type. Throws `gguf_unwritable` if the pieces do not add up to its size. */
  async add(
    typeCode: number,
    pieces: GgufPieces,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    const planned = this.#planned[this.#written.length];
    if (planned === undefined) throw unwritable("More tensors were added than were planned.");
    const head = { ...planned, typeCode };
    const expected = tensorDataBytes(head.name, typeCode, head.shape);
    let bytes = 0;
    for await (const piece of pieces) {
      signal?.throwIfAborted();
      if (bytes + piece.length > expected) throw wrongLength(head, bytes + piece.length, expected);
      await this.#writeAt(piece, this.#end + bytes);
      bytes += piece.length;
    }
    if (bytes !== expected) throw wrongLength(head, bytes, expected);
    const padded = aligned(bytes);
    await this.#writeAt(new Uint8Array(padded - bytes), this.#end + bytes);
    this.#end += padded;
    this.#written.push(head);
  }

  /** Removes the last tensor, so that it can be added again in another type. */
  dropLast(): void {
    const last = this.#written.pop();
    if (last === undefined) throw unwritable("There is no tensor to remove.");
    this.#end -= aligned(tensorDataBytes(last.name, last.typeCode, last.shape));
  }

  /** Writes the header, syncs the file to disk and gives it its name. */
  async finish(metadata: GgufMetadata): Promise<void> {
    if (this.#written.length !== this.#planned.length)
      throw unwritable(`Only ${this.#written.length} of ${this.#planned.length} tensors were added.`);
    const header = encodeGgufHeader(metadata, this.#written);
    if (header.length !== this.#headerBytes) throw unwritable("The metadata has another size than planned.");
    await this.#writeAt(header, 0);
    await this.#file.truncate(this.#end);
    await this.#file.sync();
    await this.#file.close();
    this.#isFinished = true;
    try {
      await rename(this.#part, this.#path);
    } catch (error) {
      await rm(this.#part, { force: true });
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isFinished) return;
    this.#isFinished = true;
    await this.#file.close();
    await rm(this.#part, { force: true });
  }

  async #writeAt(bytes: Uint8Array, position: number): Promise<void> {
    let written = 0;
    while (written < bytes.length) {
      const { bytesWritten } = await this.#file.write(
        bytes,
        written,
        bytes.length - written,
        position + written,
      );
      written += bytesWritten;
    }
  }
}

function wrongLength({ name }: GgufTensorHead, bytes: number, expected: number): GgufError {
  return unwritable(`Tensor ${name} gave ${bytes} bytes; ${expected} were expected.`);
}

function unwritable(message: string): GgufError {
  return new GgufError("gguf_unwritable", message);
}
