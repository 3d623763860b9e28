// Writes a planned model as a GGUF file, tensor by tensor. It needs the memory of a few pieces, however large the model is.
import { stat } from "node:fs/promises";

import { GgufWriter, tensorTypes, type GgufMetadata, type GgufValue } from "@ingle/gguf";

import type { ConstantTensor, ModelPlan } from "./architectures/architecture.ts";
import { addTally, errorInSteps, noErrors, type ErrorTally } from "./ggml-blocks.ts";
import { MlxError } from "./errors.ts";
import { writeFloats } from "./floats.ts";
import type { QuantizationSettings } from "./quantization.ts";
import { prepareTensor, readAllRows, type ReadyTensor } from "./tensor-sources.ts";
import { isGoodEnough, candidateStorages, storedTypes, type Storage, type StoredType } from "./storage.ts";
import type { Weights } from "./weights.ts";

export interface ConvertOptions {
  /** Stores weights that no block type holds exactly as F16, instead of in the smallest type that comes close. Default false. */
  exact?: boolean | undefined;
  /** Called after each tensor, with bytes of the folder's weights. */
  onProgress?: ((bytes: number, totalBytes: number) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** All tensors that were converted from one format to one type. */
export interface ConversionStep {
  /** The format in the folder, such as `affine 4-bit, groups of 64` or `BF16`. */
  from: string;
  /** ggml's type. */
  to: StoredType;
  tensors: number;
  /** In the GGUF file. */
  bytes: number;
  /**
   * The error against the folder's weights; 0 if nothing was lost. `inSteps`: the root mean square, in steps of the source's
   * own quantization. `largest`: the largest error of a single weight.
   */
  error: { inSteps: number; largest: number };
}

export interface ConversionReport {
  /** Sorted by bytes, largest first. */
  steps: ConversionStep[];
  /** Tensors of the folder that were not converted, such as those of a vision tower. */
  unused: string[];
  bytes: number;
}

interface ConvertibleModel {
  plan: ModelPlan;
  /** The keys that start with `tokenizer.`. */
  tokenizer: GgufMetadata;
  settings: QuantizationSettings;
  weights: Weights;
}

/** Writes the file; if it fails, nothing is left behind. Throws `MlxError`, file system errors and the signal's reason. */
export async function writeModel(
  target: string,
  { plan, tokenizer, settings, weights }: ConvertibleModel,
  options: ConvertOptions = {},
): Promise<ConversionReport> {
  options.signal?.throwIfAborted();
  const tensors = plan.tensors.map((tensor) => prepareTensor(tensor, settings, weights));
  const { constants = [] } = plan;
  const metadata = fileMetadata(plan, tokenizer);
  const steps = await writeFile(target, { metadata, constants, tensors, weights }, options);
  const taken = new Set(tensors.flatMap(({ takes }) => takes));
  return {
    steps: steps.toSorted((a, b) => b.bytes - a.bytes),
    unused: [...weights.tensors.keys()].filter((name) => !taken.has(name)),
    bytes: (await stat(target)).size,
  };
}

async function writeFile(
  target: string,
  contents: {
    metadata: Map<string, GgufValue>;
    constants: readonly ConstantTensor[];
    tensors: readonly ReadyTensor[];
    weights: Weights;
  },
  options: ConvertOptions,
): Promise<ConversionStep[]> {
  const { metadata, constants, tensors, weights } = contents;
  // The actual types are set as they are chosen; they do not change the size of the header.
  const typeCode = storedTypes.F32.code;
  const heads = [
    ...constants.map(({ name, values }) => ({ name, typeCode, shape: [values.length] })),
    ...tensors.map(({ plan: { name }, shape }) => ({ name, typeCode, shape })),
  ];
  await using writer = await GgufWriter.open(target, { metadata, tensors: heads });
  for (const { values } of constants) await writer.add(typeCode, [writeFloats("F32", values)]);
  const totalBytes = sum(tensors.map(sourceBytes));
  const steps = new Map<string, GrowingStep>();
  let doneBytes = 0;
  for (const tensor of tensors) {
    const { type, tally } = await writeTensor(writer, tensor, weights, options);
    addToSteps(steps, tensor, type, tally);
    doneBytes += sourceBytes(tensor);
    options.onProgress?.(doneBytes, totalBytes);
  }
  metadata.set("general.file_type", { type: "uint32", value: dominantFileType([...steps.values()]) });
  await writer.finish(metadata);
  return Array.from(steps.values(), ({ tally, ...step }) => ({
    ...step,
    error: { inSteps: errorInSteps(tally), largest: tally.largest },
  }));
}

async function writeTensor(
  writer: GgufWriter,
  tensor: ReadyTensor,
  weights: Weights,
  { exact, signal }: ConvertOptions,
): Promise<{ type: StoredType; tally: ErrorTally }> {
  const storages = candidateStorages(tensor);
  for (const storage of storages) {
    const tally = noErrors();
    await writer.add(storedTypes[storage.type].code, pieces(tensor, weights, storage, tally), { signal });
    if (isGoodEnough(storage.type, tally, { exact })) return { type: storage.type, tally };
    if (storage === storages.at(-1)) {
      checkNumbers(tensor, tally);
      return { type: storage.type, tally };
    }
    writer.dropLast();
  }
  throw new TypeError(`No storage for ${tensor.plan.name}.`);
}

/** The last storage holds any number: its error is only infinite if weights are infinite or NaN. */
function checkNumbers({ sources: [source] }: ReadyTensor, { squares }: ErrorTally): void {
  if (Number.isFinite(squares)) return;
  const message = `The tensor ${source?.weight.name} has weights that are infinite or NaN.`;
  throw new MlxError("mlx_malformed", message);
}

async function* pieces(
  tensor: ReadyTensor,
  weights: Weights,
  storage: Storage,
  tally: ErrorTally,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const rows of readAllRows(tensor, weights)) yield storage.encode(rows, tally);
}

function fileMetadata(plan: ModelPlan, tokenizer: GgufMetadata): Map<string, GgufValue> {
  return new Map<string, GgufValue>([
    ...plan.metadata,
    // Placed before the tokenizer, whose lists are long, so that the first bytes of the file contain it.
    ["general.file_type", { type: "uint32", value: 0 }],
    ["general.quantization_version", { type: "uint32", value: 2 }],
    ...tokenizer,
  ]);
}

/** A step while its tensors are written. */
type GrowingStep = Omit<ConversionStep, "error"> & { tally: ErrorTally };

function addToSteps(
  steps: Map<string, GrowingStep>,
  tensor: ReadyTensor,
  to: StoredType,
  tally: ErrorTally,
): void {
  const from = describe(tensor);
  const step = steps.get(`${from} ${to}`) ?? { from, to, tensors: 0, bytes: 0, tally: noErrors() };
  step.tensors += 1;
  step.bytes += storedBytes(tensor, to);
  addTally(step.tally, tally);
  steps.set(`${from} ${to}`, step);
}

function describe({ sources: [source] }: ReadyTensor): string {
  if (source === undefined || source.kind === "plain") return source?.dtype ?? "";
  if (source.mode !== "affine") return source.mode;
  return `affine ${source.bits}-bit, groups of ${source.groupSize}`;
}

function storedBytes({ shape }: ReadyTensor, type: StoredType): number {
  const found = tensorTypes.get(storedTypes[type].code);
  const elements = shape.reduce((product, size) => product * size, 1);
  return found === undefined ? 0 : (elements / found.blockElements) * found.blockBytes;
}

/** The file's type is the one with the most bytes. */
function dominantFileType(steps: readonly GrowingStep[]): number {
  const most = steps.toSorted((a, b) => b.bytes - a.bytes)[0];
  return most === undefined ? 0 : storedTypes[most.to].fileType;
}

function sourceBytes({ sources }: ReadyTensor): number {
  return sum(
    sources.map((source) =>
      source.kind === "plain"
        ? source.weight.sizeBytes
        : source.weight.sizeBytes + source.scales.sizeBytes + (source.biases?.sizeBytes ?? 0),
    ),
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
