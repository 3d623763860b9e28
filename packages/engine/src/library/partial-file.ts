// A file that grows over several attempts, with the checksum of its contents so far.
import { createHash, type Hash } from "node:crypto";
import { open, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { diskFailure } from "./disk-space.ts";

interface OpenPartialOptions {
  /** Called while the contents of an earlier attempt are read again. */
  onVerify?: (bytes: number, totalBytes: number) => void;
  signal?: AbortSignal | undefined;
}

/** Reads are large because the file is hundreds of MiB and read from end to end. */
const readBytes = 1024 * 1024;

/** Invariant: the file has `bytes` bytes, and the checksum covers exactly these. */
export class PartialFile implements AsyncDisposable {
  readonly path: string;
  readonly #handle: FileHandle;
  #hash: Hash = createHash("sha512");
  #bytes = 0;

  private constructor(filePath: string, handle: FileHandle) {
    this.path = filePath;
    this.#handle = handle;
  }

  /** Opens or creates the file and reads its contents. Throws `disk_full`, `download_failed` or the signal's reason. */
  static async open(filePath: string, options: OpenPartialOptions = {}): Promise<PartialFile> {
    options.signal?.throwIfAborted();
    try {
      const file = new PartialFile(filePath, await open(filePath, "a+"));
      try {
        await file.#readAgain(options);
        return file;
      } catch (error) {
        await file[Symbol.asyncDispose]();
        throw error;
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      throw diskFailure(error, path.dirname(filePath));
    }
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** `sha512-<base64>` of the contents so far, in the form of npm's lockfiles. */
  get integrity(): string {
    return `sha512-${this.#hash.copy().digest("base64")}`;
  }

  async append(chunk: Buffer): Promise<void> {
    try {
      await this.#handle.appendFile(chunk);
    } catch (error) {
      throw diskFailure(error, path.dirname(this.path));
    }
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
  }

  async restart(): Promise<void> {
    await this.#handle.truncate(0);
    this.#hash = createHash("sha512");
    this.#bytes = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  async #readAgain({ onVerify, signal }: OpenPartialOptions): Promise<void> {
    const { size } = await this.#handle.stat();
    if (size === 0) return;
    const reading = { start: 0, autoClose: false, highWaterMark: readBytes };
    const chunks: AsyncIterable<Buffer> = this.#handle.createReadStream(reading);
    for await (const chunk of chunks) {
      signal?.throwIfAborted();
      this.#hash.update(chunk);
      this.#bytes += chunk.length;
      onVerify?.(this.#bytes, size);
    }
  }
}
