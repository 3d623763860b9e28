// Reads weights of MLX's mode `affine`: value = code * scale + bias, with one scale and one bias per group along the row
// (mlx/ops.cpp, quantize and dequantize).

/** Unpacked rows. */
export interface AffineRows {
  /** One per weight. */
  readonly codes: Uint8Array;
  /** One per group. A scale may be negative. */
  readonly scales: Float32Array;
  readonly biases: Float32Array;
  readonly groupSize: number;
}

/**
 * Unpacks to one code per byte. A row is a stream of bits, lowest first; rows are whole bytes, so several rows are one stream
 * too.
 */
export function unpackCodes(packed: Uint8Array, bits: number): Uint8Array {
  const codes = new Uint8Array((packed.length * 8) / bits);
  if (bits === 8) codes.set(packed);
  else if (bits === 1 || bits === 2 || bits === 4) unpackBytes(packed, bits, codes);
  else if (bits === 3 || bits === 6) unpackThrees(packed, bits, codes);
  else unpackAny(packed, bits, codes);
  return codes;
}

/** For bits that divide a byte. */
function unpackBytes(packed: Uint8Array, bits: number, codes: Uint8Array): void {
  const mask = (1 << bits) - 1;
  let at = 0;
  for (let i = 0; i < packed.length; i += 1) {
    const byte = packed[i] ?? 0;
    for (let shift = 0; shift < 8; shift += bits, at += 1) codes[at] = (byte >>> shift) & mask;
  }
}

/** For bits that divide three bytes; rows of 32 codes are a multiple of that. */
function unpackThrees(packed: Uint8Array, bits: number, codes: Uint8Array): void {
  const mask = (1 << bits) - 1;
  let at = 0;
  for (let i = 0; i < packed.length; i += 3) {
    const word = (packed[i] ?? 0) | ((packed[i + 1] ?? 0) << 8) | ((packed[i + 2] ?? 0) << 16);
    for (let shift = 0; shift < 24; shift += bits, at += 1) codes[at] = (word >>> shift) & mask;
  }
}

function unpackAny(packed: Uint8Array, bits: number, codes: Uint8Array): void {
  const mask = (1 << bits) - 1;
  // Always has fewer bits than one code before a byte is added.
  let buffer = 0;
  let bufferedBits = 0;
  let at = 0;
  for (let i = 0; i < packed.length; i += 1) {
    buffer |= (packed[i] ?? 0) << bufferedBits;
    bufferedBits += 8;
    while (bufferedBits >= bits) {
      codes[at] = buffer & mask;
      at += 1;
      buffer >>>= bits;
      bufferedBits -= bits;
    }
  }
}

/** The weights in single precision: the product is rounded first, then the sum. */
export function affineValues({ codes, scales, biases, groupSize }: AffineRows): Float32Array {
  const values = new Float32Array(codes.length);
  for (let group = 0; group < scales.length; group += 1) {
    const scale = scales[group] ?? 0;
    const bias = biases[group] ?? 0;
    const end = (group + 1) * groupSize;
    for (let i = group * groupSize; i < end; i += 1) values[i] = Math.fround(scale * (codes[i] ?? 0)) + bias;
  }
  return values;
}
