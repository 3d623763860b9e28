// The tensors of a folder, from one model.safetensors or several shards.
import { open, readdir, type FileHandle } from "node:fs/promises";
import path from "node:path";

import { MlxError } from "./errors.ts";
import { readSafetensors, type SafetensorsTensor } from "./safetensors.ts";

/** Shards have up to 5 GB; the largest models have less than two hundred. */
const SHARDS_MAX = 1000;

/** A tensor, and the name of its file. */
export interface FolderTensor extends SafetensorsTensor {
  readonly file: string;
}

/**
 * The names of the weight files, sorted: all `model*.safetensors`, as in mlx-lm. The index is not needed for reading.
 */
async function weightFiles(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => /^model.*\.safetensors$/.test(name)).toSorted();
  if (names.length === 0) throw new MlxError("mlx_missing", `${folder} has no model*.safetensors.`);
  if (names.length > SHARDS_MAX)
    throw new MlxError(
      "mlx_limit",
      `${folder} has ${names.length} weight files; at most ${SHARDS_MAX} are allowed.`,
    );
  checkShards(names);
  return names;
}

/** Names the missing shard; otherwise only a missing tensor would be reported. */
function checkShards(names: readonly string[]): void {
  for (const name of names) {
    const match = /^(.*-)(\d{5})-of-(\d{5})\.safetensors$/.exec(name);
    if (match === null) continue;
    const [, stem = "", , count = ""] = match;
    for (let number = 1; number <= Math.min(Number(count), SHARDS_MAX); number += 1) {
      const shard = `${stem}${String(number).padStart(5, "0")}-of-${count}.safetensors`;
      if (!names.includes(shard)) throw new MlxError("mlx_missing", `${shard} is missing next to ${name}.`);
    }
  }
}

/** The weights of a folder, open for reading. */
export class Weights implements AsyncDisposable {
  /** By name. */
  readonly tensors: ReadonlyMap<string, FolderTensor>;
  readonly #handles: ReadonlyMap<string, FileHandle>;

  private constructor(tensors: ReadonlyMap<string, FolderTensor>, handles: ReadonlyMap<string, FileHandle>) {
    this.tensors = tensors;
    this.#handles = handles;
  }

  /**
   * Opens these files; by default, a model's. Throws `MlxError`: `mlx_missing`, `mlx_malformed`, `mlx_truncated` or `mlx_limit`, and
   * file system errors.
   */
  static async open(folder: string, files?: readonly string[]): Promise<Weights> {
    const tensors = new Map<string, FolderTensor>();
    const handles = new Map<string, FileHandle>();
    try {
      for (const file of files ?? (await weightFiles(folder))) {
        const header = await readSafetensors(path.join(folder, file));
        for (const tensor of header.tensors.values()) {
          const other = tensors.get(tensor.name);
          if (other !== undefined)
            throw new MlxError("mlx_malformed", `${tensor.name} is in ${other.file} and in ${file}.`);
          tensors.set(tensor.name, { ...tensor, file });
        }
        handles.set(file, await open(path.join(folder, file), "r"));
      }
      return new Weights(tensors, handles);
    } catch (error) {
      for (const handle of handles.values()) await handle.close();
      throw error;
    }
  }

  /** Throws `mlx_missing`. */
  get(name: string): FolderTensor {
    const tensor = this.tensors.get(name);
    if (tensor === undefined) throw new MlxError("mlx_missing", `The folder lacks the tensor ${name}.`);
    return tensor;
  }

  /** Reads bytes of a tensor from `start` into a new buffer. Throws `mlx_truncated` if the file became shorter. */
  async read(tensor: FolderTensor, start: number, length: number): Promise<Uint8Array> {
    const handle = this.#handles.get(tensor.file);
    if (handle === undefined) throw new TypeError(`${tensor.file} is not open.`);
    const bytes = new Uint8Array(length);
    let filled = 0;
    while (filled < length) {
      const position = tensor.offset + start + filled;
      const { bytesRead } = await handle.read(bytes, filled, length - filled, position);
      if (bytesRead === 0)
        throw new MlxError("mlx_truncated", `${tensor.file} became shorter while it was read.`);
      filled += bytesRead;
    }
    return bytes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const handle of this.#handles.values()) await handle.close();
  }
}
