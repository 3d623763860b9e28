// What a folder's model is made of, and whether it is still the same: by a digest of all bytes, and at a glance by what the
// file system says of the files. Who keeps conversions asks for both.
import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";

import { MlxError } from "./errors.ts";

export interface FolderContents {
  /** Names of the files that the model is made of, sorted. */
  files: readonly string[];
  sizeBytes: number;
  /** Changes when a file is written anew or replaced. Costs no reading. */
  look: string;
}

/** Changes when the same folder would be converted to other bytes. */
const CONVERTER_VERSION = 1;
/** A folder of a model has a few dozen files, or as many shards. */
const FILES_MAX = 4096;
/** Large reads: the files are gigabytes and are read from end to end. */
const readBytes = 1024 * 1024;

/** The files that say something of the model: weights, settings, tokenizer and templates. */
export function isModelFile(name: string): boolean {
  return /^[^.].*\.(?:safetensors|json|jinja|model|txt)$/.test(name);
}

/** Whether the folder looks as MLX's tools write it: settings, and weights beside them. */
export async function isMlxFolder(folder: string): Promise<boolean> {
  const names = await readdir(folder);
  return names.includes("config.json") && names.some((name) => /^model.*\.safetensors$/.test(name));
}

/** Throws `mlx_limit`, `mlx_malformed` for what is no file, and the system's errors. */
export async function lookAtContents(folder: string): Promise<FolderContents> {
  const files = (await readdir(folder)).filter(isModelFile).toSorted();
  if (files.length > FILES_MAX) throw new MlxError("mlx_limit", `${folder} holds ${files.length} files.`);
  const hash = createHash("sha256");
  let sizeBytes = 0;
  for (const name of files) {
    const stats = await stat(path.join(folder, name));
    // A pipe would never end.
    if (!stats.isFile()) throw new MlxError("mlx_malformed", `${name} in ${folder} is no file.`);
    const { size, mtimeMs, ctimeMs, ino, dev } = stats;
    sizeBytes += size;
    addPart(hash, name, size, mtimeMs, ctimeMs, ino, dev);
  }
  return { files, sizeBytes, look: hash.digest("hex") };
}

/**
 * The sha256 of all bytes of the files, their names and the converter's version: equal digests mean equal conversions. Throws
 * the system's errors or the signal's reason.
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
  const { files, sizeBytes } = await lookAtContents(folder);
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

/** Parts are told apart by their lengths, whatever is in them. */
function addPart(hash: Hash, ...parts: (string | number)[]): void {
  for (const part of parts.map(String)) hash.update(`${part.length}:${part};`);
}
