// Writes a model in another quantization. llama.cpp does the work, in a process of its own; here is all that is decided
// and checked before and after it.
import path from "node:path";
import { readGguf, type GgufTensorInfo } from "@ingle/gguf";
import { EngineError } from "../errors.ts";
import { checkDiskSpace, spareBytes } from "../library/disk-space.ts";
import { fileBytes } from "../library/file-size.ts";
import { withQuantization } from "../library/quantization.ts";
import type { NativeQuantizeOptions } from "../native.ts";
import { checkThreads } from "../threads.ts";
import { checkImatrix } from "./imatrix-file.ts";
import { parseLevel, type QuantizationLevel } from "./levels.ts";
import { openModelFiles, type ModelFiles } from "./model-files.ts";
import { runTask } from "./native-process.ts";
import { chooseOutput, writeWhole, type OutputOptions } from "./output-file.ts";

export interface QuantizeProgress {
  /** Bytes of the model that have been worked on, of how many. */
  bytes: number;
  totalBytes: number;
  /** The tensor that is worked on now. */
  tensor: string;
}

export interface QuantizeOptions extends OutputOptions {
  /** A name of `quantizationLevels`, in capitals or small letters. Default Q4_K_M. */
  to?: string | undefined;
  /** An importance matrix of this model, as `computeImatrix` writes it. Default: every weight matters as much. */
  imatrix?: string | undefined;
  /** Takes a model that is quantized already: the result is worse than one made from the original. Default false. */
  allowRequantize?: boolean | undefined;
  /** Default: one for each core. */
  threads?: number | undefined;
  onProgress?: ((progress: QuantizeProgress) => void) | undefined;
}

export interface QuantizedModel {
  path: string;
  /** The level's name. */
  quantization: string;
  /** Of the new file, and of all files of the model that it was made from. */
  sizeBytes: number;
  sizeBytesBefore: number;
  bitsPerWeight: number;
}

/**
 * Writes `model` (a path, or any name that `locateModel` knows; fetched when it is not there) as one file with the
 * quantization in its name. An abort ends the work at once and leaves nothing behind.
 *
 * Throws `invalid_request` (no such level, one that needs an importance matrix, a model that is quantized already, an
 * importance matrix of another model, an output that is taken), `model_invalid`, `model_unsupported`, `disk_full`,
 * `out_of_memory`, `engine_failed`, what `locateModel` and `fetchModel` throw, or the signal's reason.
 */
export async function quantizeModel(model: string, options: QuantizeOptions = {}): Promise<QuantizedModel> {
  const { signal, cwd = process.cwd(), allowRequantize = false } = options;
  const imatrix = options.imatrix === undefined ? undefined : path.resolve(cwd, options.imatrix);
  signal?.throwIfAborted();
  const threads = checkThreads(options.threads);
  const level = parseLevel(options.to);
  refuseWithoutImatrix(level, imatrix);
  const files = await openModelFiles(model, options);
  if (!allowRequantize) refuseQuantized(files);
  if (imatrix !== undefined) await checkImatrix(imatrix, files.tensors);
  const output = await chooseOutput(files.files, `${withQuantization(files.stem, level.name)}.gguf`, options);
  const native = {
    input: files.files[0],
    output,
    fileType: level.fileType,
    threads,
    allowRequantize,
    imatrix: imatrix ?? "",
  };
  await makeSure(native, files, options);
  await writeWhole(
    output,
    async (unfinished) => await quantize({ ...native, output: unfinished }, files, options),
    options,
  );
  return await describe(output, level, files);
}

function refuseWithoutImatrix({ name, needsImatrix }: QuantizationLevel, imatrix: string | undefined): void {
  if (!needsImatrix || imatrix !== undefined) return;
  const message =
    `to: ${name} has too few bits to be of use without an importance matrix. ` +
    "Make one from a text (ingle imatrix MODEL --text FILE) and give it (--imatrix FILE).";
  throw new EngineError("invalid_request", message, { details: { param: "to" } });
}

/** ggml's numbers of the types that hold each number for itself: F32, F16, the integers, F64 and BF16. */
const plainTypes = new Set([0, 1, 24, 25, 26, 27, 28, 30]);

function refuseQuantized({ files: [file], facts, tensors }: ModelFiles): void {
  if (tensors.every(({ typeCode }) => plainTypes.has(typeCode))) return;
  const what = facts.quantization === undefined ? "" : ` (${facts.quantization})`;
  const message =
    `${file} is quantized already${what}, and quantizing it again loses more than quantizing the original. ` +
    "Take the model's F16 or BF16 file, or say that it is meant (--allow-requantize).";
  throw new EngineError("invalid_request", message, { details: { path: file } });
}

/** Everything that can be known before the work begins: llama.cpp can open the file, and the disk has room. */
async function makeSure(
  native: NativeQuantizeOptions,
  { files: [file], headerBytes }: ModelFiles,
  { signal, freeBytes }: QuantizeOptions,
): Promise<void> {
  const tensorBytes = await runTask("plan", native, { file, signal });
  await checkDiskSpace(
    path.dirname(native.output),
    tensorBytes + headerBytes + spareBytes,
    freeBytes,
    "output",
  );
}

async function quantize(
  native: NativeQuantizeOptions,
  { files: [file], tensors }: ModelFiles,
  { signal, onProgress }: QuantizeOptions,
): Promise<void> {
  const sizes = new Map(tensors.map(({ name, sizeBytes }) => [name, sizeBytes]));
  const totalBytes = bytesOf(tensors);
  let bytes = 0;
  const onNews = (tensor: string): void => {
    onProgress?.({ bytes, totalBytes, tensor });
    bytes += sizes.get(tensor) ?? 0; // done when the next one is begun
  };
  await runTask("quantize", native, { file, signal, onNews });
}

async function describe(
  output: string,
  { name }: QuantizationLevel,
  { sizeBytes: sizeBytesBefore }: ModelFiles,
): Promise<QuantizedModel> {
  const { tensors } = await readGguf(output, { isLenient: true });
  const weights = tensors.reduce(
    (sum, { shape }) => sum + shape.reduce((product, size) => product * size, 1),
    0,
  );
  return {
    path: output,
    quantization: name,
    sizeBytes: (await fileBytes(output)) ?? 0,
    sizeBytesBefore,
    bitsPerWeight: (bytesOf(tensors) * 8) / weights,
  };
}

function bytesOf(tensors: readonly GgufTensorInfo[]): number {
  return tensors.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}
