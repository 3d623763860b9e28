// Weights of MLX's modes mxfp4, mxfp8 and nvfp4: floats of 4 or 8 bits with a scale of 8 bits per group (OCP Microscaling
// Formats; NVIDIA's NVFP4). ggml's block_mxfp4 and block_nvfp4 differ from MLX only in the order of bytes, so these two
// convert without loss.
import { e2m1Values, e4m3Values, e8m0Values, writeFloats, type FloatType } from "./floats.ts";
import type { QuantizationMode } from "./quantization.ts";

type FloatMode = Exclude<QuantizationMode, "affine">;

/** Rows in the folder's layout. */
export interface ScaledRows {
  /** Two codes per byte in mxfp4 and nvfp4, the first in the low half; one per byte in mxfp8. */
  readonly codes: Uint8Array;
  readonly scales: Uint8Array;
  readonly mode: FloatMode;
}

const mxfp4Bytes = 17;
const nvfp4Bytes = 36;
const groupSizes: Readonly<Record<FloatMode, number>> = { mxfp4: 32, mxfp8: 32, nvfp4: 16 };

/** ggml's MXFP4: the exponent, then 32 codes, the first 16 in the low halves of the bytes. */
export function encodeMxfp4({ codes, scales }: ScaledRows): Uint8Array {
  const out = new Uint8Array(scales.length * mxfp4Bytes);
  for (let block = 0, at = 0; block < scales.length; block += 1, at += mxfp4Bytes) {
    out[at] = scales[block] ?? 0;
    splitHalves(codes, block * 16, out, at + 1, 16);
  }
  return out;
}

/** ggml's NVFP4: four scales, then four groups of 16 codes, each with its first 8 in the low halves. */
export function encodeNvfp4({ codes, scales }: ScaledRows): Uint8Array {
  const out = new Uint8Array((scales.length / 4) * nvfp4Bytes);
  for (let group = 0; group < scales.length; group += 1) {
    const at = Math.floor(group / 4) * nvfp4Bytes;
    out[at + (group % 4)] = scales[group] ?? 0;
    splitHalves(codes, group * 8, out, at + 4 + (group % 4) * 8, 8);
  }
  return out;
}

/** Reorders consecutive codes, so that codes j and j + `count` share a byte. */
function splitHalves(codes: Uint8Array, from: number, out: Uint8Array, at: number, count: number): void {
  for (let j = 0; j < count; j += 2) {
    const low = codes[from + j / 2] ?? 0;
    const high = codes[from + (j + count) / 2] ?? 0;
    out[at + j] = (low & 15) | ((high & 15) << 4);
    out[at + j + 1] = (low >>> 4) | (high & 0xf0);
  }
}

/** Whether ggml reads every scale as MLX does: ggml ignores the sign and reads NaN as 0. */
export function areNvfp4Scales({ scales }: ScaledRows): boolean {
  return scales.every((scale) => scale < 0x7f);
}

/** Whether no scale, and no code of 8 bits, is NaN. */
export function areNumbers({ codes, scales, mode }: ScaledRows): boolean {
  const areE4m3 = (bytes: Uint8Array): boolean => !bytes.includes(0x7f) && !bytes.includes(0xff);
  if (mode === "nvfp4") return areE4m3(scales);
  return !scales.includes(0xff) && (mode === "mxfp4" || areE4m3(codes));
}

function scaledValues({ codes, scales, mode }: ScaledRows): Float32Array {
  const groupSize = groupSizes[mode];
  const scaleValues = mode === "nvfp4" ? e4m3Values : e8m0Values;
  const values = new Float32Array(scales.length * groupSize);
  for (let i = 0; i < values.length; i += 1) {
    const scale = scaleValues[scales[Math.floor(i / groupSize)] ?? 0] ?? 0;
    values[i] = scale * codeValue(codes, i, mode);
  }
  return values;
}

function codeValue(codes: Uint8Array, index: number, mode: FloatMode): number {
  if (mode === "mxfp8") return e4m3Values[codes[index] ?? 0] ?? 0;
  const byte = codes[index >>> 1] ?? 0;
  return e2m1Values[index % 2 === 0 ? byte & 15 : byte >>> 4] ?? 0;
}

export function encodeScaledFloats(dtype: FloatType): (rows: ScaledRows) => Uint8Array {
  return (rows) => writeFloats(dtype, scaledValues(rows));
}
