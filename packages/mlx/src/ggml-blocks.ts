// Writes affine weights in ggml's types (ggml-common.h: block_q1_0, block_q4_1, block_q5_1, block_q8_0), and adds up the errors against the
// source meanwhile.
import { halfBits } from "@ingle/gguf";

import { affineValues, type AffineRows } from "./affine.ts";
import { halfValues, readFloats, writeFloats, type FloatType } from "./floats.ts";

/** Weights per block of all types but Q1_0. */
const blockWeights = 32;
const q10Weights = 128;
const q10Bytes = 18;
const q41Bytes = 20;
const q51Bytes = 24;
const q80Bytes = 34;
/** The largest code of Q8_0 that every kernel multiplies correctly. */
const q80CodeMax = 127;

/** Writes the rows and adds the errors to the tally. */
export type AffineEncoder = (rows: AffineRows, tally: ErrorTally) => Uint8Array;

/**
 * Keeps codes of 1 bit in groups of as many weights as a block has. It has one scale d in half precision and the values d and -d, so a
 * group is exact if its scale is -2 times its bias. Those of another kind count as infinitely wrong.
 */
export const encodeQ10: AffineEncoder = ({ codes, scales, biases, groupSize }, tally) => {
  const out = new Uint8Array((codes.length / q10Weights) * q10Bytes);
  for (let group = 0, at = 0; group < scales.length; group += 1, at += q10Bytes) {
    const scale = scales[group] ?? 0;
    const bias = biases[group] ?? 0;
    const written = halfBits(-bias);
    out[at] = written & 0xff;
    out[at + 1] = written >>> 8;
    for (let i = 0; i < q10Weights; i += 1) {
      const code = codes[group * q10Weights + i] ?? 0;
      out[at + 2 + (i >>> 3)] = (out[at + 2 + (i >>> 3)] ?? 0) | (code << (i & 7));
    }
    tally.stepSquares += groupSize * scale * scale;
    const error = scale === -2 * bias ? Math.abs((halfValues[written] ?? 0) + bias) : Infinity;
    addErrors(tally, groupSize * error * error, error);
  }
  tally.weights += codes.length;
  return out;
};

/** Keeps codes of up to 4 bits; a block has a scale and a bias in half precision. */
export const encodeQ41: AffineEncoder = (rows, tally) => {
  const { codes } = rows;
  const out = new Uint8Array((codes.length / blockWeights) * q41Bytes);
  for (let at = 0, block = 0; block < codes.length; at += q41Bytes, block += blockWeights) {
    writeScaleAndBias(out, at, rows, block);
    for (let j = 0; j < 16; j += 1)
      out[at + 4 + j] = (codes[block + j] ?? 0) | ((codes[block + j + 16] ?? 0) << 4);
  }
  tallyHalves(rows, tally);
  return out;
};

/** Keeps codes of 5 bits: four bits as in Q4_1, the fifth bits in a 32-bit word. */
export const encodeQ51: AffineEncoder = (rows, tally) => {
  const { codes } = rows;
  const out = new Uint8Array((codes.length / blockWeights) * q51Bytes);
  const view = new DataView(out.buffer);
  for (let at = 0, block = 0; block < codes.length; at += q51Bytes, block += blockWeights) {
    writeScaleAndBias(out, at, rows, block);
    let fifth = 0;
    for (let j = 0; j < 16; j += 1) {
      const low = codes[block + j] ?? 0;
      const high = codes[block + j + 16] ?? 0;
      out[at + 8 + j] = (low & 15) | ((high & 15) << 4);
      fifth |= ((low >>> 4) << j) | ((high >>> 4) << (j + 16));
    }
    view.setUint32(at + 4, fifth, true);
  }
  tallyHalves(rows, tally);
  return out;
};

function writeScaleAndBias(out: Uint8Array, at: number, rows: AffineRows, weight: number): void {
  const group = Math.floor(weight / rows.groupSize);
  const scale = halfBits(rows.scales[group] ?? 0);
  const bias = halfBits(rows.biases[group] ?? 0);
  out[at] = scale & 0xff;
  out[at + 1] = scale >>> 8;
  out[at + 2] = bias & 0xff;
  out[at + 3] = bias >>> 8;
}

/** Adds the errors of rounding scales and biases to halves. */
function tallyHalves({ codes, scales, biases, groupSize }: AffineRows, tally: ErrorTally): void {
  for (let group = 0; group < scales.length; group += 1) {
    const scale = scales[group] ?? 0;
    const bias = biases[group] ?? 0;
    tally.stepSquares += groupSize * scale * scale;
    const line = { slope: asHalf(scale) - scale, start: asHalf(bias) - bias };
    for (let i = group * groupSize; i < (group + 1) * groupSize; i += blockWeights)
      tallyLine(codes, i, line, tally);
  }
  tally.weights += codes.length;
}

/** Adds the errors of a block, which are a linear function of the codes. */
function tallyLine(
  codes: Uint8Array,
  block: number,
  { slope, start }: { slope: number; start: number },
  tally: ErrorTally,
): void {
  if (slope === 0) {
    addErrors(tally, blockWeights * start * start, Math.abs(start));
    return;
  }
  let squares = 0;
  let largest = 0;
  for (let i = block; i < block + blockWeights; i += 1) {
    const error = Math.abs(slope * (codes[i] ?? 0) + start);
    squares += error * error;
    largest = Math.max(largest, error);
  }
  addErrors(tally, squares, largest);
}

/**
 * Q8_0 has no bias: value = code * scale, with codes from -127 to 127. MLX's quantizer makes the bias a whole multiple of the
 * scale, except for rounding; if the codes fit after shifting them by that multiple, they are kept. Otherwise the block is
 * quantized again with its own scale.
 */
export const encodeQ80: AffineEncoder = (rows, tally) => {
  const { codes, scales, biases, groupSize } = rows;
  const out = new Uint8Array((codes.length / blockWeights) * q80Bytes);
  const quants = new Int8Array(out.buffer);
  for (let at = 0, block = 0; block < codes.length; at += q80Bytes, block += blockWeights) {
    const group = Math.floor(block / groupSize);
    const scale = scales[group] ?? 0;
    const bias = biases[group] ?? 0;
    tally.stepSquares += blockWeights * scale * scale;
    const own = ownScale(codes, block, scale, bias);
    const bits = halfBits(own ?? scale);
    out[at] = bits & 0xff;
    out[at + 1] = bits >>> 8;
    const written = halfValues[bits] ?? 0;
    if (own === undefined) {
      const offset = Math.round(bias / scale);
      for (let j = 0; j < blockWeights; j += 1) quants[at + 2 + j] = (codes[block + j] ?? 0) + offset;
      tallyLine(codes, block, { slope: written - scale, start: offset * written - bias }, tally);
    } else {
      quantize(codes, block, { scale, bias, written }, quants, at + 2, tally);
    }
  }
  tally.weights += codes.length;
  return out;
};

/** The block's own scale for Q8_0; undefined if the source's scale and shifted codes lose less. */
function ownScale(codes: Uint8Array, block: number, scale: number, bias: number): number | undefined {
  let least = 255;
  let most = 0;
  for (let i = block; i < block + blockWeights; i += 1) {
    const code = codes[i] ?? 0;
    if (code < least) least = code;
    if (code > most) most = code;
  }
  const largest = Math.max(Math.abs(scale * least + bias), Math.abs(scale * most + bias));
  const offset = Math.round(bias / scale);
  const isKept =
    Math.abs(least + offset) <= q80CodeMax &&
    Math.abs(most + offset) <= q80CodeMax &&
    // The error of shifted codes against the largest possible error of new ones.
    Math.abs(offset * scale - bias) <= largest / (2 * q80CodeMax);
  return isKept ? undefined : largest / q80CodeMax;
}

/** Writes the codes nearest to the weights for the written scale. */
function quantize(
  codes: Uint8Array,
  block: number,
  { scale, bias, written }: { scale: number; bias: number; written: number },
  quants: Int8Array,
  at: number,
  tally: ErrorTally,
): void {
  const perStep = written === 0 ? 0 : 1 / written;
  let squares = 0;
  let largest = 0;
  for (let j = 0; j < blockWeights; j += 1) {
    const value = scale * (codes[block + j] ?? 0) + bias;
    // The scale was rounded, so the largest value may lie slightly beyond the last code.
    const code = Math.max(-q80CodeMax, Math.min(q80CodeMax, Math.round(value * perStep)));
    quants[at + j] = code;
    const error = Math.abs(code * written - value);
    squares += error * error;
    largest = Math.max(largest, error);
  }
  addErrors(tally, squares, largest);
}

/** Writes every weight as a float. */
export function encodeFloats(dtype: FloatType): AffineEncoder {
  return (rows, tally) => {
    const values = affineValues(rows);
    const bytes = writeFloats(dtype, values);
    const written = readFloats(dtype, bytes);
    const { scales, groupSize } = rows;
    for (let group = 0; group < scales.length; group += 1)
      tally.stepSquares += groupSize * (scales[group] ?? 0) ** 2;
    let squares = 0;
    let largest = 0;
    for (let i = 0; i < values.length; i += 1) {
      const error = Math.abs((written[i] ?? 0) - (values[i] ?? 0));
      squares += error * error;
      largest = Math.max(largest, error);
    }
    addErrors(tally, squares, largest);
    tally.weights += values.length;
    return bytes;
  };
}

/** NaN (infinity minus infinity) stays NaN in both sums, so that no comparison takes it for a small error. */
function addErrors(tally: ErrorTally, squares: number, largest: number): void {
  tally.squares += squares;
  tally.largest = Math.max(tally.largest, largest);
}

function asHalf(value: number): number {
  return halfValues[halfBits(value)] ?? 0;
}

export interface ErrorTally {
  /** Number of weights. */
  weights: number;
  /** Sum of the squared errors. */
  squares: number;
  /** Sum, over the weights, of the squared step of their group: the difference of two neighbouring codes. */
  stepSquares: number;
  /** The largest error of a single weight. */
  largest: number;
}

export function noErrors(): ErrorTally {
  return { weights: 0, squares: 0, stepSquares: 0, largest: 0 };
}

export function addTally(total: ErrorTally, part: ErrorTally): void {
  total.weights += part.weights;
  total.squares += part.squares;
  total.stepSquares += part.stepSquares;
  total.largest = Math.max(total.largest, part.largest);
}

/** The root mean square of the errors, in steps of the source; 0 if nothing was lost. */
export function errorInSteps({ squares, stepSquares }: ErrorTally): number {
  return squares === 0 ? 0 : Math.sqrt(squares / stepSquares);
}
