// Chooses ggml's type for a tensor: the candidates depend on the folder's quantization, smallest first, and the first one with
// a small enough error is used.
import {
  addTally,
  noErrors,
  type ErrorTally,
  encodeFloats,
  encodeQ10,
  encodeQ41,
  encodeQ51,
  encodeQ80,
  type AffineEncoder,
} from "./ggml-blocks.ts";
import { unpackCodes } from "./affine.ts";
import { isFloatType, readFloats, writeFloats, type FloatType } from "./floats.ts";
import {
  areNumbers,
  areNvfp4Scales,
  encodeMxfp4,
  encodeNvfp4,
  encodeScaledFloats,
  type ScaledRows,
} from "./microscaling.ts";
import type { RawRows, ReadyTensor, Source } from "./tensor-sources.ts";

/** The types that are written: ggml's number, and llama.cpp's number for files of mostly this type (`general.file_type`). */
export const storedTypes = {
  F32: { code: 0, fileType: 0 },
  F16: { code: 1, fileType: 1 },
  Q4_1: { code: 3, fileType: 3 },
  Q5_1: { code: 7, fileType: 9 },
  Q8_0: { code: 8, fileType: 7 },
  BF16: { code: 30, fileType: 32 },
  MXFP4: { code: 39, fileType: 38 },
  NVFP4: { code: 40, fileType: 39 },
  Q1_0: { code: 41, fileType: 40 },
} as const;
export type StoredType = keyof typeof storedTypes;

/** A way to write a tensor. */
export interface Storage {
  readonly type: StoredType;
  /** Writes the rows and adds the errors to the tally. */
  encode(rows: RawRows, tally: ErrorTally): Uint8Array;
}

interface StorageOptions {
  /** Uses block types only if they hold every weight exactly, and 16-bit floats otherwise. Default false. */
  readonly exact?: boolean | undefined;
}

/** Smallest first; the last one holds any values. */
export function candidateStorages({ plan, sources, shape }: ReadyTensor): readonly Storage[] {
  const [source] = sources;
  if (source === undefined) throw new TypeError(`${plan.name} has no source.`);
  // llama.cpp needs vectors in F32.
  const mustBeF32 = plan.type === "f32" || shape.length === 1;
  if (source.kind === "plain")
    return [plainStorage(source.dtype, mustBeF32 ? "F32" : source.dtype, plan.add)];
  if (source.mode === "affine") return affineStorages(source, mustBeF32);
  return scaledStorages({ ...source, mode: source.mode }, mustBeF32);
}

/**
 * Whether the error is small enough: a root mean square of at most half a step of the source, as large as the error of its
 * own quantization; with `exact`, no error at all in block types.
 */
export function isGoodEnough(
  type: StoredType,
  tally: ErrorTally,
  { exact = false }: StorageOptions,
): boolean {
  if (exact && type !== "F16") return tally.squares === 0;
  return tally.squares <= tally.stepSquares / 4;
}

/** For sources that are not quantized: if type and values stay the same, the bytes are copied. */
function plainStorage(from: FloatType, to: FloatType, add: number | undefined): Storage {
  const encode = ({ weight }: RawRows): Uint8Array => {
    if (from === to && add === undefined) return weight;
    const values = readFloats(from, weight);
    if (add !== undefined) for (let i = 0; i < values.length; i += 1) values[i] = (values[i] ?? 0) + add;
    return writeFloats(to, values);
  };
  return { type: to, encode };
}

type QuantizedSource = Extract<Source, { kind: "quantized" }>;

/** Weights per block of Q1_0. */
const q10BlockWeights = 128;

function affineStorages({ bits, groupSize, scales }: QuantizedSource, mustBeF32: boolean): Storage[] {
  const { dtype } = scales;
  if (!isFloatType(dtype)) throw new TypeError(`Scales of the type ${dtype} were not refused.`);
  const storage = (type: StoredType, encoder: AffineEncoder): Storage => ({
    type,
    encode: (rows, tally) => {
      const part = noErrors();
      const read = {
        scales: readFloats(dtype, rows.scales),
        biases: readFloats(dtype, rows.biases),
        groupSize,
      };
      const bytes = encoder({ codes: unpackCodes(rows.weight, bits), ...read }, part);
      addTally(tally, part);
      return bytes;
    },
  });
  const floats = [storage("F16", encodeFloats("F16")), storage("F32", encodeFloats("F32"))];
  if (mustBeF32) return floats.slice(1);
  const q41 = storage("Q4_1", encodeQ41);
  if (bits === 1 && groupSize === q10BlockWeights) return [storage("Q1_0", encodeQ10), q41, ...floats];
  if (bits <= 4) return [q41, ...floats];
  if (bits === 5) return [storage("Q5_1", encodeQ51), ...floats];
  return [storage("Q8_0", encodeQ80), ...floats];
}

function scaledStorages(
  { mode, columns }: QuantizedSource & { mode: ScaledRows["mode"] },
  mustBeF32: boolean,
): Storage[] {
  const storage = (
    type: StoredType,
    encode: (rows: ScaledRows, tally: ErrorTally) => Uint8Array,
  ): Storage => ({
    type,
    encode: ({ weight, scales }, tally) => {
      tally.weights += (weight.length * 8) / (mode === "mxfp8" ? 8 : 4);
      if (!areNumbers({ codes: weight, scales, mode })) tally.squares = Number.NaN;
      return encode({ codes: weight, scales, mode }, tally);
    },
  });
  const f32 = storage("F32", encodeScaledFloats("F32"));
  if (mustBeF32) return [f32];
  if (mode === "mxfp4") return [storage("MXFP4", encodeMxfp4)];
  // BF16 and F16 hold all products of codes and scales exactly: few digits, and exponents that fit.
  if (mode === "mxfp8") return [storage("BF16", encodeScaledFloats("BF16"))];
  const f16 = storage("F16", encodeScaledFloats("F16"));
  if (columns % nvfp4BlockWeights !== 0) return [f16];
  const nvfp4 = storage("NVFP4", (rows, tally) => {
    if (!areNvfp4Scales(rows)) tally.squares = Infinity;
    return encodeNvfp4(rows);
  });
  return [nvfp4, f16];
}

const nvfp4BlockWeights = 64;
