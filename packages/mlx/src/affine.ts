// Weights of MLX's mode `affine`: value = code * scale + bias, with one scale and one bias for each group along the row
// (mlx/ops.cpp, quantize and dequantize). Reads them; ggml-blocks.ts writes them.

/** Some rows, unpacked. */
export interface AffineRows {
  /** One for each weight. */
  readonly codes: Uint8Array;
  /** One for each group. A scale may be negative. */
  readonly scales: Float32Array;
  readonly biases: Float32Array;
  readonly groupSize: number;
}

/**
 * One code a byte. Codes lie in the row as a stream of bits, the lowest first; rows are whole bytes, so many of them are one
 * stream.
 */
export function unpackCodes(packed: Uint8Array, bits: number): Uint8Array {
  const codes = new Uint8Array((packed.length * 8) / bits);
  if (bits === 8) codes.set(packed);
  else if (bits === 4) unpackNibbles(packed, codes);
  else unpackAny(packed, bits, codes);
  return codes;
}

function unpackNibbles(packed: Uint8Array, codes: Uint8Array): void {
  for (let at = 0; at < packed.length; at += 1) {
    const byte = packed[at] ?? 0;
    codes[2 * at] = byte & 15;
    codes[2 * at + 1] = byte >>> 4;
  }
}

function unpackAny(packed: Uint8Array, bits: number, codes: Uint8Array): void {
  const mask = (1 << bits) - 1;
  // At most 7 bits are left when a byte comes in, so 15 are the most that are held.
  let held = 0;
  let heldBits = 0;
  let at = 0;
  for (let i = 0; i < packed.length; i += 1) {
    held |= (packed[i] ?? 0) << heldBits;
    heldBits += 8;
    while (heldBits >= bits) {
      codes[at] = held & mask;
      at += 1;
      held >>>= bits;
      heldBits -= bits;
    }
  }
}

/** The weights, in single precision: the product is rounded, then the sum. */
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
