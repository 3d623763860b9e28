// The files of a folder's model, and whether they changed: exactly, by a digest of all bytes, or quickly, by what the file system
// reports.
import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";

import { MlxError } from "./errors.ts";

export interface FolderContents {
  /** Names of the model's files, sorted. */
  files: readonly string[];
  sizeBytes: number;
  /** Changes when a file is written or replaced. Computed without reading the files. */
  look: string;
}

/** Incremented when the same folder would be converted to other bytes. */
const CONVERTER_VERSION = 2;
/** A folder has a few dozen files, or up to some hundred shards. */
const FILES_MAX = 4096;
/** Reads are large because the files are gigabytes and read from end to end. */
const readBytes = 1024 * 1024;

/** Whether a file belongs to the model: weights, settings, tokenizer and templates. */
export function isModelFile(name: string): boolean {
  return /^[^.].*\.(?:safetensors|json|jinja|model|txt)$/.test(name);
}

/** Whether the folder has the files that MLX's tools write: settings and weights. */
export async function isMlxFolder(folder: string): Promise<boolean> {
  const names = await readdir(folder);
  return names.includes("config.json") && names.some((name) => /^model.*\.safetensors$/.test(name));
}

/** Whether the folder has the files of a LoRA adapter that PEFT or mlx-lm write. */
export async function isAdapterFolder(folder: string): Promise<boolean> {
  return (await readdir(folder)).includes("adapter_config.json");
}

/** Throws `mlx_limit`, `mlx_malformed` for an entry that is not a file, and file system errors. */
export async function readFolderContents(folder: string): Promise<FolderContents> {
  const files = (await readdir(folder)).filter(isModelFile).toSorted();
  if (files.length > FILES_MAX) throw new MlxError("mlx_limit", `${folder} holds ${files.length} files.`);
  const hash = createHash("sha256");
  let sizeBytes = 0;
  for (const name of files) {
    const stats = await stat(path.join(folder, name));
    // Reading a pipe would never end.
    if (!stats.isFile()) throw new MlxError("mlx_malformed", `${name} in ${folder} is not a regular file.`);
    const { size, mtimeMs, ctimeMs, ino, dev } = stats;
    sizeBytes += size;
    addPart(hash, name, size, mtimeMs, ctimeMs, ino, dev);
  }
  return { files, sizeBytes, look: hash.digest("hex") };
}

/**
 * The sha256 of all bytes of the files, their names and the converter's version: equal digests mean equal conversions. Throws
 * as `lookAtContents`, and the signal's reason.
 */
export async function digestContents(
  folder: string,
  {
    onProgress,
    signal,
  }: {
    onProgress?: ((bytes: number, totalBytes: number) => void) | undefined;
    signal?: AbortSignal | undefined;
  } = {},
): Promise<string> {
  const { files, sizeBytes } = await readFolderContents(folder);
  const whole = createHash("sha256");
  addPart(whole, "ingle-mlx", CONVERTER_VERSION);
  let done = 0;
  for (const name of files) {
    const hash = createHash("sha256");
    const reading = { highWaterMark: readBytes, signal };
    const chunks: AsyncIterable<Buffer> = createReadStream(path.join(folder, name), reading);
    for await (const chunk of chunks) {
      signal?.throwIfAborted();
      hash.update(chunk);
      done += chunk.length;
      onProgress?.(Math.min(done, sizeBytes), sizeBytes);
    }
    addPart(whole, name, hash.digest("hex"));
  }
  return whole.digest("hex");
}

/** Prefixes each part with its length, so that different parts never add up to the same bytes. */
function addPart(hash: Hash, ...parts: (string | number)[]): void {
  for (const part of parts.map(String)) hash.update(`${part.length}:${part};`);
}
