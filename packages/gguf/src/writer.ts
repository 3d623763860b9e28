// Writes GGUF files, version 3, tensor by tensor, so that a file may be larger than memory. Used by the conversion of other
// formats and by the fixtures.
import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";

import { encodeGgufHeader, type GgufTensorHead } from "./encode-header.ts";
import { GgufError } from "./errors.ts";
import { aligned, type GgufMetadata } from "./format.ts";
import { sizeOf } from "./tensors.ts";

/** A tensor's data in order, in pieces of any length. */
export type GgufPieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** A tensor to write; `pieces` is called once, when the tensor's turn comes. */
export interface GgufTensorData extends GgufTensorHead {
  pieces: () => GgufPieces;
}

/**
 * Writes a GGUF file. It grows under a name of its own ending in `.part` and takes its real name when it is whole.
 * Throws `GgufError` with code `gguf_unwritable` when the contents cannot be written as asked, the system's errors or the
 * signal's reason; nothing is left behind then.
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
 * A GGUF file that grows tensor by tensor, in the order of `tensors`. Types may turn out differently from what was planned,
 * and values of metadata too as long as they take the same room: the header is written last, into the place kept for it.
 * Disposing before `finish()` leaves nothing behind.
 */
export class GgufWriter implements AsyncDisposable {
  readonly #path: string;
  readonly #part: string;
  readonly #file: FileHandle;
  readonly #planned: readonly GgufTensorHead[];
  readonly #written: GgufTensorHead[] = [];
  readonly #headerBytes: number;
  /** Where the next tensor begins, in bytes from the start of the file. */
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

  /** Throws `GgufError` with code `gguf_unwritable` and the system's errors. */
  static async open(
    path: string,
    { metadata, tensors }: { metadata: GgufMetadata; tensors: readonly GgufTensorHead[] },
  ): Promise<GgufWriter> {
    const { length } = encodeGgufHeader(metadata, tensors);
    const part = `${path}.${randomUUID()}.part`;
    return new GgufWriter(path, part, await open(part, "wx"), tensors, length);
  }

  /** Writes the next tensor's data, of this type. Throws `gguf_unwritable` when the pieces are not as long as it is. */
  async add(
    typeCode: number,
    pieces: GgufPieces,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    const planned = this.#planned[this.#written.length];
    if (planned === undefined) throw unwritable("More tensors were added than were announced.");
    const head = { ...planned, typeCode };
    const wanted = sizeOf(head.name, typeCode, head.shape);
    let bytes = 0;
    for await (const piece of pieces) {
      signal?.throwIfAborted();
      if (bytes + piece.length > wanted) throw wrongLength(head, bytes + piece.length, wanted);
      await this.#writeAt(piece, this.#end + bytes);
      bytes += piece.length;
    }
    if (bytes !== wanted) throw wrongLength(head, bytes, wanted);
    const padded = aligned(bytes);
    await this.#writeAt(new Uint8Array(padded - bytes), this.#end + bytes);
    this.#end += padded;
    this.#written.push(head);
  }

  /** Takes the last tensor back, to be added anew in another type. */
  dropLast(): void {
    const last = this.#written.pop();
    if (last === undefined) throw unwritable("There is no tensor to take back.");
    this.#end -= aligned(sizeOf(last.name, last.typeCode, last.shape));
  }

  /** Writes the header, and gives the file its name once all of it is on the disk. */
  async finish(metadata: GgufMetadata): Promise<void> {
    if (this.#written.length !== this.#planned.length)
      throw unwritable(`${this.#written.length} of ${this.#planned.length} tensors were added.`);
    const header = encodeGgufHeader(metadata, this.#written);
    if (header.length !== this.#headerBytes)
      throw unwritable("The metadata takes other room than announced.");
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

function wrongLength({ name }: GgufTensorHead, bytes: number, wanted: number): GgufError {
  return unwritable(`Tensor ${name} gave ${bytes} bytes where ${wanted} were due.`);
}

function unwritable(message: string): GgufError {
  return new GgufError("gguf_unwritable", message);
}
