// Writes a model in another quantization. llama.cpp does the work in a child process; this file has the checks before it and
// the report after it.
import path from "node:path";
import { readGguf, type GgufTensorInfo } from "@ingle/gguf";
import { EngineError, invalidRequest } from "../base/errors.ts";
import { checkDiskSpace, spareBytes } from "../library/disk-space.ts";
import { fileBytes } from "../library/durable-files.ts";
import { withQuantization } from "../library/quantization.ts";
import type { NativeQuantizeOptions } from "../native/addon.ts";
import { checkThreads } from "../native/default-threads.ts";
import { checkImatrix } from "./imatrix-file.ts";
import { parseLevel, type QuantizationLevel } from "./levels.ts";
import { openModelFiles, type ModelFiles } from "./model-files.ts";
import { runTask } from "./native-process.ts";
import { chooseOutput, writeAtomically, type OutputOptions } from "./output-file.ts";
import { resolveUserPath } from "../base/home.ts";

export interface QuantizeProgress {
  /** Processed bytes of the model. */
  bytes: number;
  totalBytes: number;
  /** The current tensor. */
  tensor: string;
}

export interface QuantizeOptions extends OutputOptions {
  /** A name of `quantizationLevels`, in any case. Default Q4_K_M. */
  to?: string | undefined;
  /** An importance matrix of this model, as `computeImatrix` writes it. Default: all weights matter equally. */
  imatrix?: string | undefined;
  /** Allows a model that is already quantized, with a worse result than from the original. Default false. */
  allowRequantize?: boolean | undefined;
  /** Default: one per performance core. */
  threads?: number | undefined;
  onProgress?: ((progress: QuantizeProgress) => void) | undefined;
}

export interface QuantizedModel {
  path: string;
  /** The level's name. */
  quantization: string;
  /** The sizes of the new file, and of all files of the original model. */
  sizeBytes: number;
  sizeBytesBefore: number;
  bitsPerWeight: number;
}

/**
 * Writes `model` (a path, or any name for `locateModel`; downloaded if missing) as one file with the quantization in its name.
 * An abort ends the work at once and leaves nothing behind.
 *
 * Throws `invalid_request` (an unknown level, one that needs an importance matrix, a model that is already quantized, an
 * importance matrix of another model, an output that exists), `model_invalid`, `model_unsupported`, `disk_full`,
 * `out_of_memory`, `engine_failed`, as `locateModel` and `fetchModel`, or the signal's reason.
 */
export async function quantizeModel(model: string, options: QuantizeOptions = {}): Promise<QuantizedModel> {
  const { signal, cwd = process.cwd(), allowRequantize = false } = options;
  const imatrix = options.imatrix === undefined ? undefined : resolveUserPath(options.imatrix, cwd);
  signal?.throwIfAborted();
  const threads = await checkThreads(options.threads);
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
  await checkFeasible(native, files, options);
  await writeAtomically(
    output,
    async (unfinished) => await quantize({ ...native, output: unfinished }, files, options),
    options,
  );
  return await describe(output, level, files);
}

function refuseWithoutImatrix({ name, needsImatrix }: QuantizationLevel, imatrix: string | undefined): void {
  if (!needsImatrix || imatrix !== undefined) return;
  throw invalidRequest(
    "to",
    `${name} has too few bits to be useful without an importance matrix. ` +
      "Make one from a text (ingle imatrix MODEL --text FILE) and pass it (--imatrix FILE).",
  );
}

/** ggml's numbers of the types without blocks: F32, F16, the integers, F64 and BF16. */
const plainTypes = new Set([0, 1, 24, 25, 26, 27, 28, 30]);

function refuseQuantized({ files: [file], facts, tensors }: ModelFiles): void {
  if (tensors.every(({ typeCode }) => plainTypes.has(typeCode))) return;
  const what = facts.quantization === undefined ? "" : ` (${facts.quantization})`;
  const message =
    `${file} is already quantized${what}, and quantizing it again loses more than quantizing the original. ` +
    "Use the model's F16 or BF16 file, or allow it (--allow-requantize).";
  throw new EngineError("invalid_request", message, { details: { path: file } });
}

/** Checks before the work starts that llama.cpp can open the file and that the disk has enough space. */
async function checkFeasible(
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
  const totalBytes = sumBytes(tensors);
  let bytes = 0;
  const onTensor = (tensor: string): void => {
    onProgress?.({ bytes, totalBytes, tensor });
    bytes += sizes.get(tensor) ?? 0; // counts as done when the next one starts
  };
  await runTask("quantize", native, { file, signal, onProgress: onTensor });
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
    bitsPerWeight: (sumBytes(tensors) * 8) / weights,
  };
}

function sumBytes(tensors: readonly GgufTensorInfo[]): number {
  return tensors.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}
